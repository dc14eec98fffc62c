"""Routes of the pages people look at."""

from __future__ import annotations

from django.urls import path

from crewsite.dashboard import views

app_name = "dashboard"
urlpatterns = [
    path("", views.home, name="home"),
    path("status/", views.status, name="status"),
    path("memory/context/", views.context_preview, name="context"),
    path("workspace/", views.workspace_switch, name="workspace"),
]
