"""Routes in and out of the site."""

from __future__ import annotations

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from crewsite.accounts.views import LoginLinkView

urlpatterns = [
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("login/link/<str:token>/", LoginLinkView.as_view(), name="login_link"),
]
