"""`crew maintenance`: keep everybody from writing while an operator works on the store."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crewsite.jobs.constants import MAINTENANCE, MAINTENANCE_SECONDS
from crewsite.jobs.errors import MaintenanceRefused
from crewsite.jobs.maintenance import maintenance_begin, maintenance_end
from crewsite.jobs.models import Lease
from crewsite.jobs.store import maintenance_now


class Command(BaseCommand):
    help = (
        "Keep everybody from writing for a while, for example to copy or replace the database. Reads go on."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        begin = actions.add_parser("begin", help="refuse writes until `end`, or until the time is up")
        begin.add_argument("--note", default="An operator is at work.", help="a sentence for people")
        begin.add_argument("--minutes", type=int, default=MAINTENANCE_SECONDS // 60)
        begin.add_argument("--force", action="store_true", help="do not wait for jobs and answers that run")
        end = actions.add_parser(
            "end", help="let writers in again; every process drops what it keeps of the rows"
        )
        status = actions.add_parser("status", help="whether writes are refused, and until when")
        for action in (begin, end, status):
            action.add_argument("--json", action="store_true", help="print one JSON object for machines")

    def handle(self, *args: Any, **options: Any) -> None:
        told = ""
        if options["action"] == "begin":
            told = self._begin(note=options["note"], minutes=options["minutes"], force=options["force"])
        elif options["action"] == "end":
            told = self._end()
        if told and not options["json"]:
            self.stdout.write(told)
        else:
            self._status(as_json=options["json"])

    def _begin(self, *, note: str, minutes: int, force: bool) -> str:
        if minutes < 1:
            raise CommandError("--minutes must be at least 1.", returncode=2)
        try:
            lease = maintenance_begin(note=note, seconds=minutes * 60, force=force)
        except MaintenanceRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        return f"Writes are refused until {lease.expires_at:%Y-%m-%d %H:%M} UTC or `crew maintenance end`."

    def _end(self) -> str:
        lease = Lease.objects.filter(name=MAINTENANCE).first()
        if lease is None:
            raise CommandError("The site is not under maintenance.")
        maintenance_end(lease)
        return "Writes are allowed again; every process reads the rows anew."

    def _status(self, *, as_json: bool) -> None:
        found = maintenance_now()
        if as_json:
            fields = {"note": found.note, "until": found.until.isoformat()} if found else {}
            self.stdout.write(json.dumps({"maintenance": found is not None, **fields}))
        elif found is None:
            self.stdout.write("Not under maintenance.")
        else:
            self.stdout.write(f"Under maintenance until {found.until:%Y-%m-%d %H:%M} UTC: {found.note}")
