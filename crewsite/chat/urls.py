"""Routes of the chat page. The answers themselves come over the websocket."""

from __future__ import annotations

from django.urls import path

from crewsite.chat import conversation_views, views

app_name = "chat"
urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.conversation_new, name="new"),
    path("models/", views.model_options, name="models"),
    path("list/", views.conversation_rows, name="list"),
    path("turns/<uuid:turn_id>/context/", views.turn_context, name="turn_context"),
    path("<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("<uuid:conversation_id>/rename/", conversation_views.rename, name="rename"),
    path("<uuid:conversation_id>/pin/", conversation_views.pin, name="pin"),
    path("<uuid:conversation_id>/archive/", conversation_views.archive, name="archive"),
    path("<uuid:conversation_id>/delete/", conversation_views.delete, name="delete"),
    path("<uuid:conversation_id>/export.md", conversation_views.export, {"form": "md"}, name="export_md"),
    path("<uuid:conversation_id>/messages/<int:seq>/", conversation_views.message_text, name="message_text"),
    path(
        "<uuid:conversation_id>/export.json", conversation_views.export, {"form": "json"}, name="export_json"
    ),
]
