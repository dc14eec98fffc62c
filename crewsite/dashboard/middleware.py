"""Headers that depend on the page: the admin theme's exception from the content policy, and no caching of
personal pages. The policy itself is in settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from django.urls import reverse
from django.utils.cache import patch_cache_control

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

# The admin theme's Alpine build compiles expressions and sets inline styles; no other page may.
ADMIN_POLICY: Final = {"script-src": ["'unsafe-eval'"], "style-src": ["'unsafe-inline'"]}
# Every powerful browser feature that a hijacked page could misuse is off.
PERMISSIONS_POLICY: Final = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), "
    "microphone=(), midi=(), payment=(), serial=(), usb=()"
)


class PageHeadersMiddleware:
    """Stands after `CSPMiddleware` in the list, so that its mark is there when the policy is written."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.admin_prefix = reverse("admin:index")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if request.path.startswith(self.admin_prefix):
            response._csp_update = ADMIN_POLICY  # type: ignore[attr-defined]  # read by django-csp
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        user = getattr(request, "user", None)
        if user is not None and user.is_authenticated and "Cache-Control" not in response.headers:
            patch_cache_control(response, no_store=True)
        return response
