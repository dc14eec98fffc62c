"""`crew setup`: prepare everything, start nothing."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crewsite.checks import refusals
from crewsite.running import setup_fingerprint, setup_stamp
from crewsite.setup import SetupFailed, model_is_settled, setup_steps


class Command(BaseCommand):
    help = "Prepare home, database, model, schedules, static files and owner. Safe to run again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print what each step did for machines")

    def handle(self, **options: Any) -> None:
        done: dict[str, str] = {}
        if problems := refusals():
            raise CommandError("\n".join(problems))
        for step in setup_steps():
            try:
                result = step.run()
            except SetupFailed as error:
                raise CommandError(str(error)) from error
            done[step.title] = result
            if options["verbosity"] and not options["json"]:
                self.stderr.write(f"{step.title:>14}  {result}")
        if model_is_settled():
            setup_stamp().write_text(setup_fingerprint())
        if options["json"]:
            self.stdout.write(json.dumps(done))
