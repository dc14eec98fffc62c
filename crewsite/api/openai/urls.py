"""Routes under `/v1/`, where OpenAI's clients look."""

from __future__ import annotations

from django.urls import path

from crewsite.api.openai import views

urlpatterns = [
    path("chat/completions", views.chat_completions),
    path("models", views.models),
    path("models/<path:name>", views.model),
    path("<path:rest>", views.nowhere),
]
