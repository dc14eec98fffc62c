"""How commands start and end: what they load, how they behave in a pipe and under Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from crewsite.settings import INSTALLED_APPS, LOGGING
from crewsite.settings.command import INSTALLED_APPS as COMMAND_APPS
from tests.commands.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.site import Site

# What only pages, the API and writes need; together they took half of the start.
SPARED = (
    "unfold",
    "rest_framework.views",
    "drf_spectacular",
    "requests",
    "memory.admin",
    "lessons.services",
    "httpx",
)


def environment(site: Site) -> dict[str, str]:
    return {k: v for k, v in site.environment.items() if k != "DJANGO_SETTINGS_MODULE"}


def test_listing_lessons_loads_nothing_of_pages_and_writes(site: Site) -> None:
    script = (
        "import sys, atexit\n"
        f"atexit.register(lambda: print([m for m in {SPARED!r} if m in sys.modules], file=sys.stderr))\n"
        "sys.argv = ['crew', 'learn', 'list']\n"
        "from crewsite.cli import main; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment(site),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_every_app_with_tables_of_ours_stays_for_quick_commands() -> None:
    ours = {name for name in INSTALLED_APPS if name.startswith(("crewsite", "memory", "lessons"))}
    assert ours <= set(COMMAND_APPS)


@pytest.mark.parametrize(
    ("words", "code"), [(["config", "list"], 0), (["memory", "search", "dog", "--limit", "0"], 2)]
)
def test_a_reader_that_has_enough_ends_the_command_quietly(site: Site, words: list[str], code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "crewsite.cli", *words],
        cwd=ROOT,
        env=environment(site),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_lesson_taught_in_a_pipe_is_read_from_it(site: Site, tmp_path: Path) -> None:
    crew = f"{sys.executable} -m crewsite.cli"
    script = (
        f"{crew} learn add 'pipes carry rules' >/dev/null && {crew} learn list --json | {sys.executable} -c "
    )
    script += '\'import json,sys; print([r["rule"] for r in json.load(sys.stdin)["lessons"]])\''
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=ROOT,
        env=environment(site),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "pipes carry rules" in done.stdout


def test_the_console_hears_nothing_of_the_builds_that_faiss_looks_for() -> None:
    assert LOGGING["loggers"]["faiss"]["level"] == "WARNING"
