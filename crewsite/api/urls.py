"""Routes under `/api/v1/`."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from crewsite.api import (
    jobs,
    provenance,
    schema,  # noqa: F401  (registers how tokens are described)
    views,
)
from crewsite.api.errors import api_not_found

urlpatterns = [
    path("health/live", views.HealthLive.as_view(), name="health_live"),
    path("health/ready", views.HealthReady.as_view(), name="health_ready"),
    path("embeddings/status", views.EmbeddingsStatus.as_view()),
    path("memory/context-preview", views.ContextPreview.as_view()),
    path("memory/search", views.MemorySearch.as_view()),
    path("memory/<slug:kind>/<int:row_id>/explain", provenance.Explain.as_view()),
    path("memory/<slug:kind>/<int:row_id>/restore", provenance.Restore.as_view()),
    path("conversations/", views.Conversations.as_view()),
    path("conversations/<uuid:conversation_id>/messages/", views.Messages.as_view()),
    path("lessons/", views.Lessons.as_view()),
    path("jobs/", jobs.Jobs.as_view()),
    path("jobs/<int:job_id>/", jobs.JobDetail.as_view()),
    path("jobs/<int:job_id>/cancel", jobs.JobCancel.as_view()),
    path("jobs/<int:job_id>/retry", jobs.JobRetry.as_view()),
    path("schema/", SpectacularAPIView.as_view(), name="api_schema"),
    path(
        "docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api_schema", template_name="api/docs.html"),
        name="api_docs",
    ),
    path("<path:rest>", api_not_found),
    path("", api_not_found),
]
