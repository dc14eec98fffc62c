"""`manage.py qcluster`: django-q2's worker, which does not start on a site that is unsafe to serve."""

from __future__ import annotations

import os
from typing import Any

from django_q.management.commands.qcluster import Command as QclusterCommand

from crewsite.checks import refuse_unsafe_start
from crewsite.jobs.children import tie_children
from crewsite.jobs.installation import schedule_specs, schedules_install


class Command(QclusterCommand):
    # The checks run once, below, with the exit status that supervisors know as a configuration error.
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)
        refuse_unsafe_start()
        schedules_install(schedule_specs())
        tie_children()
        super().handle(*args, **options)
