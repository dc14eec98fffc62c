from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "crewsite.api"
    verbose_name = "API"
