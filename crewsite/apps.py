"""The site's own app: it only brings the system checks in."""

from __future__ import annotations

from django.apps import AppConfig


class CrewsiteConfig(AppConfig):
    name = "crewsite"
    label = "site"
    verbose_name = "Crewsite"

    def ready(self) -> None:
        from crewsite import checks  # noqa: F401
