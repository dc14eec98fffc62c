"""`crew doctor`: all findings with what to do about each, for people or as JSON. Changes nothing, and runs
where little else does: without a home, a database or a model."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from crewsite.cli import named_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.doctor.findings import Finding

MARKS: Final = {"ok": "ok", "warn": "warn", "fail": "FAIL"}


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="crew doctor", description="Examines the installation. Changes nothing."
    )
    add_arguments(parser)
    options = parser.parse_args(words)
    _spare_the_home()
    import django

    django.setup()
    return report(as_json=options.json)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def report(*, as_json: bool) -> int:
    """Prints; 1 when anything fails."""
    findings = findings_all()
    states = Counter(finding.state for finding in findings)
    if as_json:
        data = {"ok": not states["fail"], "findings": [asdict(finding) for finding in findings]}
        sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(findings)) + "\n")
        sys.stderr.write(f"{states['ok']} ok, {states['warn']} to look at, {states['fail']} failed\n")
    return int(bool(states["fail"]))


def findings_all() -> list[Finding]:
    from crewsite.doctor import machine, models, store
    from crewsite.doctor.findings import examine

    return examine(
        [
            ("python", machine.python),
            ("home", machine.home),
            ("settings", machine.settings_are_safe),
            ("database", store.database),
            ("embedder", models.embedder),
            ("language model", models.language_model),
            ("port", machine.port),
            ("static files", machine.static_files),
        ]
    )


def _lines(findings: Sequence[Finding]) -> list[str]:
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{MARKS[finding.state]:<4}  {finding.name:<{width}}  {finding.told}")
        if finding.remedy:
            lines.append(f"{'':<4}  {'':<{width}}  -> {finding.remedy}")
    return lines


def _spare_the_home() -> None:
    """Settings make a home and a key where there is none; an examination takes a passing key instead."""
    home = named_home()
    is_production = os.environ.get("CREW_ENV", "").strip() == "production"
    try:
        has_key = (home / "keys" / "secret.key").is_file() and os.access(
            home / "keys" / "secret.key", os.R_OK
        )
    except OSError:
        has_key = False
    if not is_production and not has_key:
        os.environ.setdefault("CREW_SECRET_KEY", secrets.token_urlsafe(48))
