from __future__ import annotations

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "crewsite.jobs"
    verbose_name = "Jobs"

    def ready(self) -> None:
        from django.db.backends.signals import connection_created
        from django_q.signals import post_spawn

        from crewsite.jobs import checks  # noqa: F401
        from crewsite.jobs.store import watch_connection
        from crewsite.jobs.worker_start import on_spawn

        connection_created.connect(watch_connection, dispatch_uid="crewsite.jobs")
        post_spawn.connect(on_spawn, dispatch_uid="crewsite.jobs")
