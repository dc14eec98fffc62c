"""`manage.py sync_schedules`: bring the schedule table in step with the code. Run at every start."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from crewsite.jobs.installation import schedule_specs, schedules_install


class Command(BaseCommand):
    help = "Installs the site's schedules, updates changed ones and removes retired ones. Safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        done = schedules_install(schedule_specs())
        if options["verbosity"]:
            self.stdout.write(
                f"Schedules: {done.created} new, {done.updated} changed, {done.unchanged} as they were, "
                f"{done.removed} removed."
            )
