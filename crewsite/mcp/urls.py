"""Routes of the Connect page. `/mcp` itself is answered before Django (`http`)."""

from __future__ import annotations

from django.urls import path

from crewsite.mcp import views

app_name = "mcp"
urlpatterns = [
    path("connect/", views.connect, name="connect"),
    path("connect/revoke/", views.revoke, name="revoke"),
    path("connect/light/", views.light, name="light"),
]
