"""`crew status`: what runs, what is degraded, and what to do about it."""

from __future__ import annotations

import json
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

WAIT_FOR_MODEL_S: Final = 10

# What an operator does about each degradation.
REMEDIES: Final[dict[str, str]] = {
    "embedder_unavailable": "search works by keyword only; install the model: crew embeddings install",
    "embedder_loading": "the model is being loaded; this takes seconds",
    "index_behind": "vectors are being written; the worker does it in the background",
    "faiss_unavailable": "vectors are compared without FAISS; reinstall faiss-cpu",
    "worker_absent": "no background worker was seen in the last minutes; start it: crew run",
    "llm_not_configured": "chat answers from memory alone; set CREW_LLM_BASE_URL, CREW_LLM_MODEL, CREW_LLM_API_KEY",
    "llm_unreachable": "the model endpoint does not answer; check CREW_LLM_BASE_URL",
    "database_unavailable": "the database does not answer; check DATABASE_URL and disk space",
}


class Command(BaseCommand):
    help = "Show what runs, what is degraded and what to do about it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object for machines")

    def handle(self, **options: Any) -> None:
        from crewsite.api.health import readiness
        from crewsite.embeddings.service import get_embedder

        # A command starts with nothing in memory: give the model its moment, so that the answer is about the site.
        get_embedder().wait_ready(WAIT_FOR_MODEL_S)
        report = readiness()
        if options["json"]:
            self.stdout.write(json.dumps(report, default=str))
            return
        for part in ("embedder", "index", "database", "llm", "worker"):
            value = report.get(part, {})
            text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            self.stdout.write(f"{part:>10}  {text}")
        for name in report["degraded"]:
            self.stdout.write(f"{'degraded':>10}  {name}: {REMEDIES.get(name, 'see the log')}")
        if not report["degraded"]:
            self.stdout.write(f"{'':>10}  all well")
