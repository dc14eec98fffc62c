"""`crew status`: what runs, what is degraded, and what to do about it."""

from __future__ import annotations

import json
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, connection

WAIT_FOR_MODEL_S: Final = 10


class Command(BaseCommand):
    help = "Show what runs, what is degraded and what to do about it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object for machines")

    def handle(self, **options: Any) -> None:
        from crewsite.api.health import readiness
        from crewsite.checks import refusals
        from crewsite.embeddings.service import get_embedder

        if self.is_unprepared():
            raise CommandError("This home is not set up yet. Run: make run")
        # A command starts with nothing in memory: give the model its moment, so that the answer is about
        # the site.
        get_embedder().wait_ready(WAIT_FOR_MODEL_S)
        settings_problems = refusals()
        report = {**readiness(), "settings": settings_problems}
        if options["json"]:
            self.stdout.write(json.dumps(report, default=str))
        else:
            self._tell(report)
        if "database_unavailable" in report["degraded"]:
            raise CommandError("The database does not answer.")
        if settings_problems:
            raise CommandError("The site does not start like this.")

    def _tell(self, report: dict[str, Any]) -> None:
        from crewsite.dashboard.remedies import remedies

        for part in ("embedder", "index", "database", "llm", "worker"):
            self.stdout.write(f"{part:>10}  {_readable(report[part])}")
        for remedy in remedies(report["degraded"]):
            advice = " ".join(filter(None, (remedy.effect, remedy.action, remedy.command)))
            self.stdout.write(f"{'degraded':>10}  {remedy.title}. {advice}")
        for problem in report["settings"]:
            self.stdout.write(f"{'settings':>10}  {problem}")
        if not report["degraded"] and not report["settings"]:
            self.stdout.write(f"{'':>10}  all well")

    def is_unprepared(self) -> bool:
        """An empty database; one that does not answer is a finding of its own."""
        try:
            return not connection.introspection.table_names()
        except DatabaseError:
            return False


def _readable(state: dict[str, Any]) -> str:
    """`ready, model_id minilm-l6-v2, dim 384`: the state first, then what is known and not empty."""
    known = [
        f"{key} {value}" for key, value in state.items() if key != "state" and value not in ("", None, [])
    ]
    return ", ".join([str(state["state"]), *known])
