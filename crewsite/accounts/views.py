"""The login link's page. Password login and logout are Django's own views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import login
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from crewsite.accounts.services import login_link_is_valid, login_link_use

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@method_decorator(never_cache, name="dispatch")
class LoginLinkView(View):
    """GET shows a button and uses nothing, so that a link preview cannot burn the link; POST logs in."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        return self._page(request, token, valid=login_link_is_valid(token))

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        user = login_link_use(token)
        if user is None:
            return self._page(request, token, valid=False)
        login(request, user, backend=MODEL_BACKEND)
        return redirect(settings.LOGIN_REDIRECT_URL)

    def _page(self, request: HttpRequest, token: str, *, valid: bool) -> HttpResponse:
        status = 200 if valid else 410
        return render(
            request, "registration/login_link.html", {"token": token, "valid": valid}, status=status
        )
