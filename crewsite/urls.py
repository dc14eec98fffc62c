"""Routes of the site; each app keeps its own."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("crewsite.dashboard.urls")),
    path("", include("crewsite.accounts.urls")),
    path("", include("crewsite.mcp.urls")),
    path("chat/", include("crewsite.chat.urls")),
    path("api/v1/", include("crewsite.api.urls")),
    path("v1/", include("crewsite.api.openai.urls")),
    path("admin/", admin.site.urls),
]

handler500 = "crewsite.api.errors.server_error"
