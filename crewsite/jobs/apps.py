from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "crewsite.jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        from django_q.signals import post_spawn

        from crewsite.jobs.worker_start import on_spawn

        post_spawn.connect(on_spawn, dispatch_uid="crewsite.jobs")
