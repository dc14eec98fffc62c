"""Routes of the chat page. The answers themselves come over the websocket."""

from __future__ import annotations

from django.urls import path

from crewsite.chat import views

app_name = "chat"
urlpatterns = [
    path("", views.home, name="home"),
    path("new/", views.conversation_new, name="new"),
    path("list/", views.conversation_list, name="list"),
    path("turns/<uuid:turn_id>/context/", views.turn_context, name="turn_context"),
    path("<uuid:conversation_id>/", views.conversation, name="conversation"),
    path("<uuid:conversation_id>/rename/", views.rename, name="rename"),
    path("<uuid:conversation_id>/archive/", views.archive, name="archive"),
]
