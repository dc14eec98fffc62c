"""Routes under `/api/v1/`. What each takes is said in `accounts.access`."""

from __future__ import annotations

from django.urls import path

from crewsite.api import (
    conversations,
    docs,
    documents,
    episodic,
    events,
    jobs,
    lessons,
    live_settings,
    provenance,
    search,
    semantic,
    status,
    tokens,
    turns,
)
from crewsite.api.errors import api_not_found

urlpatterns = [
    path("health/live", status.HealthLive.as_view(), name="health_live"),
    path("health/ready", status.HealthReady.as_view(), name="health_ready"),
    path("embeddings/status", status.EmbeddingsStatus.as_view()),
    path("embeddings/install", status.EmbeddingsInstall.as_view()),
    path("memory/semantic/", semantic.Facts.as_view()),
    path("memory/semantic/<str:key>", semantic.Fact.as_view()),
    path("memory/episodic/", episodic.Episodes.as_view()),
    path("memory/episodic/search", episodic.EpisodeSearch.as_view()),
    path("memory/episodic/<int:row_id>", episodic.Episode.as_view()),
    path("memory/preferences", documents.Preferences.as_view()),
    path("memory/projects", documents.Projects.as_view()),
    path("memory/history", documents.History.as_view()),
    path("memory/as-of", documents.AsOf.as_view()),
    path("memory/events", events.Events.as_view()),
    path("memory/events/export", events.EventsExport.as_view()),
    path("memory/stats", status.Stats.as_view()),
    path("memory/search", search.MemorySearch.as_view()),
    path("memory/context-preview", search.ContextPreview.as_view()),
    path("memory/settings", live_settings.LiveSettings.as_view()),
    path("memory/<slug:kind>/<int:row_id>/explain", provenance.Explain.as_view()),
    path("memory/<slug:kind>/<int:row_id>/restore", provenance.Restore.as_view()),
    path("lessons/", lessons.Lessons.as_view()),
    path("lessons/remove", lessons.LessonsRemove.as_view()),
    path("lessons/<int:row_id>", lessons.LessonDetail.as_view()),
    path("conversations/", conversations.Conversations.as_view()),
    path("conversations/<uuid:conversation_id>", conversations.ConversationDetail.as_view()),
    path("conversations/<uuid:conversation_id>/messages/", conversations.Messages.as_view()),
    path("conversations/<uuid:conversation_id>/turns", turns.Turns.as_view()),
    path("conversations/<uuid:conversation_id>/turns/<uuid:turn_id>", turns.TurnDetail.as_view()),
    path("jobs/", jobs.Jobs.as_view()),
    path("jobs/<int:job_id>/", jobs.JobDetail.as_view()),
    path("jobs/<int:job_id>/cancel", jobs.JobCancel.as_view()),
    path("jobs/<int:job_id>/retry", jobs.JobRetry.as_view()),
    path("security/tokens/", tokens.Tokens.as_view()),
    path("security/tokens/<slug:token_key>", tokens.Token.as_view()),
    path("schema/", docs.Schema.as_view(), name="api_schema"),
    path(
        "docs/",
        docs.Docs.as_view(url_name="api_schema", template_name="api/docs.html"),
        name="api_docs",
    ),
    path("<path:rest>", api_not_found),
    path("", api_not_found),
]
