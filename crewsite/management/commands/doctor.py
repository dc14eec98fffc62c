"""`manage.py doctor`: what is wrong and what to do. `crew doctor` is the same and runs without a home too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from crewsite.doctor.report import add_arguments, report

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    help = "Examines the installation and says what to do about each problem. Changes nothing."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if code := report(as_json=options["json"]):
            sys.exit(code)
