"""The pages of the login link and of one's own password, and the way into admin. Password login and logout
are Django's own views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import PasswordChangeView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from crewsite.accounts.services import login_link_is_valid, login_link_use

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from crewsite.accounts.models import User

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


def admin_login(request: HttpRequest) -> HttpResponse:
    """Admin has no login form of its own: it sends here whoever may not enter, signed in or not."""
    if request.user.is_authenticated and not request.user.is_staff:
        raise PermissionDenied
    if request.user.is_authenticated:
        return redirect("admin:index")
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


class PasswordView(PasswordChangeView):
    """Sets a first password without asking for an old one: who came by a login link has none."""

    template_name = "registration/password.html"
    success_url = reverse_lazy("dashboard:home")

    def get_form_class(self) -> type[Any]:
        user = cast("User", self.request.user)
        return PasswordChangeForm if user.has_usable_password() else SetPasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(self.request, "Your password is set. Other sessions of yours are logged out.")
        return super().form_valid(form)
