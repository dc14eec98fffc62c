"""Routes of the pages people look at."""

from __future__ import annotations

from django.urls import path, re_path, register_converter
from django.urls.converters import IntConverter

from crewsite.conversations.citations import CITED_PATH
from crewsite.dashboard import (
    event_views,
    full_model,
    graph_views,
    home_views,
    instruction_views,
    job_views,
    memory_views,
    model_views,
    review_views,
    views,
)


class BigIntConverter(IntConverter):
    """Ids that every database can count to; a longer number is no row."""

    regex = "[0-9]{1,18}"


register_converter(BigIntConverter, "bigint")

app_name = "dashboard"
urlpatterns = [
    path("", home_views.home, name="home"),
    path("search/", home_views.search, name="search"),
    path("lessons/teach/", home_views.teach, name="teach"),
    path("status/", views.status, name="status"),
    path("status/full-model/", full_model.full_model, name="full-model"),
    path("jobs/", job_views.jobs, name="jobs"),
    path("jobs/<int:job_id>/cancel/", job_views.job_cancel, name="job_cancel"),
    path("jobs/<int:job_id>/retry/", job_views.job_retry, name="job_retry"),
    path("memory/context/", views.context_preview, name="context"),
    path("memory/context/instructions/", instruction_views.instructions, name="instructions"),
    path("memory/", memory_views.memory_home, name="memory_home"),
    path("memory/graph/", graph_views.memory_graph_page, name="graph"),
    path(f"{CITED_PATH}<path:citation>/", memory_views.row_of_citation, name="cited"),
    path("memory/<slug:tab>/", memory_views.memory, name="memory"),
    path("memory/<slug:tab>/new/", memory_views.row_new, name="row_new"),
    path("memory/<slug:tab>/<bigint:pk>/", memory_views.row_story, name="row"),
    path("memory/<slug:tab>/<bigint:pk>/line/", memory_views.row_line, name="row_line"),
    path("memory/<slug:tab>/<bigint:pk>/edit/", memory_views.row_edit, name="row_edit"),
    path("memory/<slug:tab>/<bigint:pk>/<slug:action>/", memory_views.row_act, name="row_act"),
    path("review/", review_views.review, name="review"),
    path("review/<bigint:pk>/decide/", review_views.review_decide, name="review_decide"),
    path("events/", event_views.events, name="events"),
    re_path(r"^events/export\.(?P<form>csv|json)$", event_views.events_export, name="events_export"),
    path("settings/models/", model_views.models, name="settings-models"),
    path("settings/models/roles/", model_views.roles, name="settings-roles"),
    path("settings/models/new/", model_views.connection, name="settings-connection-new"),
    path("settings/models/<bigint:pk>/", model_views.connection, name="settings-connection"),
    path("settings/models/<bigint:pk>/test/", model_views.connection_test, name="settings-connection-test"),
    path(
        "settings/models/<bigint:pk>/refresh/",
        model_views.connection_refresh,
        name="settings-connection-refresh",
    ),
    path(
        "settings/models/<bigint:pk>/remove/",
        model_views.connection_remove,
        name="settings-connection-remove",
    ),
    path("workspace/", views.workspace_switch, name="workspace"),
]
