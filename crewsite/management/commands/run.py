"""`crew run`: start web and worker, preparing everything first."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from crewsite.running import serve


class Command(BaseCommand):
    help = "Start web and worker, preparing everything first. Stop with Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        sys.exit(serve())
