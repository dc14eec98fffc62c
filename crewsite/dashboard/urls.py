"""Routes of the pages people look at."""

from __future__ import annotations

from django.urls import path

from crewsite.dashboard import instruction_views, job_views, views

app_name = "dashboard"
urlpatterns = [
    path("", views.home, name="home"),
    path("status/", views.status, name="status"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<int:job_id>/cancel/", job_views.job_cancel, name="job_cancel"),
    path("jobs/<int:job_id>/retry/", job_views.job_retry, name="job_retry"),
    path("memory/context/", views.context_preview, name="context"),
    path("memory/context/instructions/", instruction_views.instructions, name="instructions"),
    path("workspace/", views.workspace_switch, name="workspace"),
]
