"""`crew config`: read and change live settings, which apply at once. What each may be is
`settings.live_rules`'s."""

from __future__ import annotations

import json
import logging
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

from constance import config
from django.core.management.base import BaseCommand, CommandError

from crewsite.security.redaction import redact
from crewsite.settings.live import CONSTANCE_CONFIG
from crewsite.settings.live_rules import SettingRefused, names_like, setting_read

if TYPE_CHECKING:
    from argparse import ArgumentParser

logger = logging.getLogger(__name__)

BAD_USAGE: Final = 2
WIDTH: Final = 80  # the narrowest terminal in common use
INDENT: Final = " " * 4


class Command(BaseCommand):
    help = "Reads and changes live settings; a change applies at once."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="get|set|list")
        get = verbs.add_parser("get", help="the value of one setting")
        put = verbs.add_parser("set", help="change one setting")
        listing = verbs.add_parser("list", help="all settings with value, default and meaning")
        for verb in (get, put):
            verb.add_argument("name", help="such as HISTORY_MAX_DAYS; small letters do as well")
        put.add_argument("value")
        for verb in (get, put, listing):
            verb.add_argument("--json", action="store_true", help="for programs")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        getattr(self, f"_{verb}")(options)

    def _get(self, options: dict[str, Any]) -> None:
        row = _row(_known(options["name"]))
        self.stdout.write(json.dumps(row) if options["json"] else _shown(row["value"]))

    def _set(self, options: dict[str, Any]) -> None:
        name = _known(options["name"])
        try:
            value = setting_read(name, options["value"])
        except SettingRefused as refusal:
            raise CommandError(str(refusal), returncode=BAD_USAGE) from refusal
        before = getattr(config, name)
        if value != before:
            setattr(config, name, value)
            logger.info("The live setting %s was changed by command.", name)
        row = {**_row(name), "before": _safe(before)}
        told = f"{name} = {_shown(row['value'])}"
        told += "" if value == before else f"  (was {_shown(row['before'])})"
        self.stdout.write(json.dumps(row) if options["json"] else told)

    def _list(self, options: dict[str, Any]) -> None:
        rows = [_row(name) for name in sorted(CONSTANCE_CONFIG)]
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
            return
        for row in rows:
            value, default = _shown(row["value"]), _shown(row["default"])
            told = "" if value == default else f"  (default: {default or 'nothing'})"
            self.stdout.write(f"{row['name']} = {value}".rstrip() + told)
            self.stdout.write(fill(row["help"], WIDTH, initial_indent=INDENT, subsequent_indent=INDENT))


def _known(name: str) -> str:
    """The setting's own spelling. An unknown name is bad usage."""
    if name.upper() in CONSTANCE_CONFIG:
        return name.upper()
    near = names_like(name)
    hint = f" Did you mean {' or '.join(near)}?" if near else " `crew config list` shows all."
    raise CommandError(f"There is no setting {name!r}.{hint}", returncode=BAD_USAGE)


def _row(name: str) -> dict[str, Any]:
    default, meaning = CONSTANCE_CONFIG[name][:2]
    return {"name": name, "value": _safe(getattr(config, name)), "default": default, "help": meaning}


def _safe(value: Any) -> Any:
    """A key that somebody put into a setting is not shown."""
    return redact(value).text if isinstance(value, str) else value


def _shown(value: Any) -> str:
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)
