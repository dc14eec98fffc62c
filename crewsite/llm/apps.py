from __future__ import annotations

from django.apps import AppConfig


class LlmConfig(AppConfig):
    name = "crewsite.llm"
    label = "llm"
    verbose_name = "Models"
