"""Routes in and out of the site."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path
from django.views.generic import RedirectView

from crewsite.accounts.views import LoginLinkView, PasswordView, admin_login

urlpatterns = [
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("login/link/<str:token>/", LoginLinkView.as_view(), name="login_link"),
    path("account/password/", PasswordView.as_view(), name="password"),
    path("admin/login/", admin_login),
    # The admin's own page would ask an account without a password for the old one.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password")),
]
