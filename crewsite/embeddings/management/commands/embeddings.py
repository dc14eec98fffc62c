"""`crew embeddings status|install`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from crewsite.embeddings.install import InstallFailed, install_compact
from crewsite.embeddings.models_catalog import COMPACT
from crewsite.embeddings.report import embedder_report
from crewsite.embeddings.service import get_embedder

# Loading the compact model takes 0.3 s, a 600 MB one some seconds from a cold disk.
WAIT_SECONDS: Final = 60.0


class Command(BaseCommand):
    help = "Shows or installs the embedding model."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parts = parser.add_subparsers(dest="action", required=True)
        for name, text in (
            ("status", "load the model and show what it is and how many vectors there are"),
            ("install", "build the compact model from its published weights; does nothing if it is there"),
        ):
            part = parts.add_parser(name, help=text)
            part.add_argument("--json", action="store_true", help="machine-readable output")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        as_json = bool(options["json"])
        if action == "install":
            self._install(as_json=as_json)
        else:
            self._status(as_json=as_json)

    def _install(self, *, as_json: bool) -> None:
        if settings.CREW_SKIP_MODEL_DOWNLOAD:
            raise CommandError("CREW_SKIP_MODEL_DOWNLOAD forbids downloads. Unset it to install the model.")
        say = (lambda _: None) if as_json else self.stdout.write
        try:
            path = install_compact(say=say)
        except InstallFailed as error:
            raise CommandError(str(error)) from error
        if as_json:
            self.stdout.write(json.dumps({"model_id": COMPACT.model_id, "path": str(path)}))
        else:
            self.stdout.write(f"{COMPACT.model_id} is installed: {path}")

    def _status(self, *, as_json: bool) -> None:
        get_embedder().wait_ready(WAIT_SECONDS)
        report = embedder_report()
        if as_json:
            self.stdout.write(json.dumps(report))
            return
        self.stdout.write(
            f"embedder {report['state']} {report['model_id']} dim {report['dim']} {report['error']}".rstrip()
        )
        for space in report["spaces"]:
            self.stdout.write(
                f"{space['status']:<9} {space['model_id']} dim {space['dim']}: {space['vectors']} vectors"
            )
