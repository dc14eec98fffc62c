"""System checks of the site: what is wrong in the environment, and what production refuses to start with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register, run_checks
from django.core.exceptions import ImproperlyConfigured

from crewsite.settings.env import PROBLEMS

MIN_SECRET_CHARS: Final = 50
EXIT_CONFIG: Final = 78  # EX_CONFIG of sysexits.h: a supervisor need not restart what no restart mends


def refuse_unsafe_start() -> None:
    """End the process with every finding and its fix if the site must not serve like this (13.12).

    Django runs checks for commands only: the web process calls this before it serves, and so does the worker.
    """
    findings = [found for found in run_checks(tags=[Tags.security]) if found.is_serious()]
    if not findings:
        return
    for found in findings:
        hint = f"\n    {found.hint}" if found.hint else ""
        sys.stderr.write(f"{found.id}: {found.msg}{hint}\n")
    sys.stderr.write("Crewsite does not start until this is mended.\n")
    sys.exit(EXIT_CONFIG)


@register(Tags.security)
def environment_is_readable(**_: Any) -> list[CheckMessage]:
    """E000: a variable that no parser could read."""
    return [Error(problem.message, hint=problem.hint, id="crewsite.E000") for problem in PROBLEMS]


@register(Tags.security)
def production_is_safe(**_: Any) -> list[CheckMessage]:
    """What a production site refuses to start with (chapter 13.12), and what it may not have meant."""
    return list(_production_problems()) if settings.PRODUCTION else []


def _production_problems() -> Iterator[CheckMessage]:
    try:
        secret = settings.SECRET_KEY
    except ImproperlyConfigured:
        secret = ""
    if len(secret) < MIN_SECRET_CHARS:
        yield Error(
            f"CREW_SECRET_KEY is missing or shorter than {MIN_SECRET_CHARS} characters.",
            hint="Set CREW_SECRET_KEY to a long random text, for example from: openssl rand -base64 48",
            id="crewsite.E001",
        )
    if settings.DEBUG:
        yield Error("CREW_DEBUG is on.", hint="Unset CREW_DEBUG in production.", id="crewsite.E002")
    url = settings.CREW_PUBLIC_URL
    loopback = urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}
    if not url.startswith("https://") and not loopback and not settings.CREW_ALLOW_HTTP:
        yield Error(
            f"CREW_PUBLIC_URL is {url}, which sends sessions in the clear.",
            hint="Serve over https, or set CREW_ALLOW_HTTP=1 if you know why not.",
            id="crewsite.E003",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "CREW_ALLOWED_HOSTS holds *.", hint="List the host names of this site.", id="crewsite.E004"
        )
    home = settings.CREW_HOME
    if home.exists() and home.stat().st_mode & 0o077:
        yield Error(
            f"{home} can be read by other accounts of this machine.",
            hint=f"chmod 700 {home}",
            id="crewsite.E005",
        )
    if any(network.prefixlen == 0 for network in settings.CREW_TRUSTED_PROXIES):
        yield Error(
            "CREW_TRUSTED_PROXIES holds every address: anybody could say whose request it is.",
            hint="List the addresses of your proxies, for example CREW_TRUSTED_PROXIES=127.0.0.1",
            id="crewsite.E010",
        )
    if url.startswith("https://") and not settings.CREW_TRUSTED_PROXIES:
        yield Warning(
            "CREW_TRUSTED_PROXIES is not set: everybody behind the proxy that serves https looks like one "
            "client, who shares its limits.",
            hint="Set it to the proxy's address, for example CREW_TRUSTED_PROXIES=127.0.0.1",
            id="crewsite.W001",
        )


def refusals() -> list[str]:
    """Findings that stop a start, each with its id and what to do; empty when the site may serve."""
    findings = [*environment_is_readable(), *production_is_safe()]
    return [f"{found.id} {found.msg}\n  {found.hint}" for found in findings if found.is_serious()]
