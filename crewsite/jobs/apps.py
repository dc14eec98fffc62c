from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "crewsite.jobs"
    verbose_name = "Jobs"
