"""`manage.py mcp`: the stdio server. `crew mcp` is the same and answers sooner: it starts Django itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand

from crewsite.mcp.stdio import Options, add_arguments, serve

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    help = "Serves memory to one coding agent over standard input and output (MCP)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        code = serve(Options(options["workspace"], options["token"], options["profile"]))
        if code:
            sys.exit(code)
