"""Headers that depend on the page (their policy is in settings), and the answer to a write that cannot be
done just now."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_cache_control

from crewsite.api.errors import API_PREFIX, store_problem
from crewsite.jobs.constants import MAINTENANCE_RETRY_AFTER_SECONDS
from crewsite.jobs.errors import StoreUnavailable
from crewsite.jobs.storage import store_refusal

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

logger = logging.getLogger(__name__)

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
        # Asked last: who it is may have to be read, and the database may be what does not answer.
        if "Cache-Control" not in response.headers and _is_signed_in(request):
            patch_cache_control(response, no_store=True)
        return response


class StoreMiddleware:
    """A write of any view, admin included, that cannot be done just now, as 503: a page for people, problem
    JSON for programs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        refusal = store_refusal(exception)
        if refusal is None:
            return None
        if isinstance(refusal, StoreUnavailable):
            logger.error("%s: %s", request.path, exception)
        if request.path.startswith(API_PREFIX) or "X-Fragment" in request.headers:
            response = store_problem(refusal)
        else:
            heading = "Not stored" if isinstance(refusal, StoreUnavailable) else "Under maintenance"
            response = render(request, "503.html", {"heading": heading, "reason": str(refusal)}, status=503)
            response["Retry-After"] = refusal.retry_after_seconds(at_most=MAINTENANCE_RETRY_AFTER_SECONDS)
        patch_cache_control(response, no_store=True)
        return response


def _is_signed_in(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return user is not None and user.is_authenticated
