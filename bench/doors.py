"""Doors over many rows in every layer, on a running site: lists and searches of the API, change lists of
admin with their SQL statements, and two commands from their start to their end."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any, Final

from bench.context import FEW_ROWS, another_home, fill
from bench.report import Report, percentiles, time_each
from bench.site import prepare, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

ROOT: Final = Path(__file__).resolve().parents[1]
CALLS: Final = 100
WARM_UP: Final = 10
ADMIN_CALLS: Final = 5
COMMAND_CALLS: Final = 3
START_S: Final = 60
LISTS: Final = ("memory/semantic/", "memory/episodic/", "lessons/", "memory/history", "memory/events")
SEARCHES: Final = ("memory/search", "memory/episodic/search")
NO_LIMIT: Final = 10_000_000


def run(options: argparse.Namespace) -> Report:
    prepare()
    from crewsite.accounts.services import default_workspace
    from crewsite.setup import prepare_static

    prepare_static()
    token, session = who_calls()
    rng = random.Random(13)
    fill(another_home(), rng, FEW_ROWS)
    few = admin_statements()
    fill(default_workspace(), rng, options.rows)
    many = admin_statements()
    questions = [" ".join(sentence(rng, number).split()[:8]) for number in range(CALLS + WARM_UP)]
    with serving() as address:
        figures = {
            "rows_a_layer": float(options.rows),
            **api_figures(address, token, questions),
            **admin_figures(address, session),
        }
    figures["admin_queries_more"] = float(max(many[url] - few[url] for url in many))
    figures["learn_list_s"] = command_s("learn", "list")
    figures["memory_search_s"] = command_s("memory", "search", questions[0])
    return Report(
        "doors",
        figures,
        {
            "list_p95_ms": ("<=", 60),
            "search_p95_ms": ("<=", 60),
            "admin_slowest_ms": ("<=", 300),
            "admin_queries_more": ("<=", 0),
            "learn_list_s": ("<=", 1),
            "memory_search_s": ("<=", 1),
        },
    )


def who_calls() -> tuple[str, str]:
    """An operator's token and session; the limits are out of the way."""
    from constance import config
    from django.test import Client

    from crewsite.accounts.services import owner_ensure, token_create

    for name in ("API_READS_PER_MINUTE", "API_WRITES_PER_MINUTE"):
        setattr(config, name, NO_LIMIT)
    owner, client = owner_ensure(), Client()
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return token_create(user=owner, name="bench")[1], client.cookies["sessionid"].value


def api_figures(address: str, token: str, questions: list[str]) -> dict[str, float]:
    import httpx

    figures: dict[str, float] = {}
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{address}/api/v1/", headers=headers, timeout=START_S) as http:
        lists = [time_each(pager(http, path), questions)[WARM_UP:] for path in LISTS]
        searches = [time_each(searcher(http, path), questions)[WARM_UP:] for path in SEARCHES]
    for name, taken in (("list", lists), ("search", searches)):
        worst = max((percentiles(name, one) for one in taken), key=lambda found: found[f"{name}_p95_ms"])
        figures |= worst
    return figures


def pager(http: httpx.Client, path: str) -> Any:
    """Goes on from page to page, and starts over at the end."""
    following = path

    def fetch(_: str) -> None:
        nonlocal following
        answer = http.get(following)
        answer.raise_for_status()
        following = answer.json()["next"] or path

    return fetch


def searcher(http: httpx.Client, path: str) -> Any:
    def fetch(question: str) -> None:
        answer = http.get(path, params={"q": question})
        answer.raise_for_status()
        told = answer.json()
        if told["degraded"] or not told["hits"]:
            raise SystemExit(
                f"The search was degraded ({told['degraded']}) or empty; its time means nothing."
            )

    return fetch


def admin_lists() -> list[str]:
    from django.contrib import admin

    from memory import models as memory_models

    ours = [model for model in admin.site._registry if model.__module__.startswith(("memory", "lessons"))]
    assert memory_models.EpisodicMemory in ours
    return [f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in ours]


def admin_statements() -> dict[str, int]:
    """SQL statements of each change list, in this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from crewsite.accounts.services import owner_ensure

    client = Client(HTTP_HOST="localhost")
    client.force_login(owner_ensure(), backend="django.contrib.auth.backends.ModelBackend")
    counted = {}
    for url in admin_lists():
        client.get(url)
        with CaptureQueriesContext(connection) as found:
            answer = client.get(url)
        if answer.status_code != 200:
            raise SystemExit(f"{url} answered {answer.status_code}.")
        counted[url] = len(found)
    return counted


def admin_figures(address: str, session: str) -> dict[str, float]:
    """The slowest change list, by the median of a few calls."""
    import httpx

    slowest = 0.0
    with httpx.Client(base_url=address, cookies={"sessionid": session}, timeout=START_S) as http:
        for url in admin_lists():
            taken = sorted(time_each(lambda one: http.get(one).raise_for_status(), [url] * ADMIN_CALLS))
            slowest = max(slowest, taken[len(taken) // 2])
    return {"admin_slowest_ms": slowest}


def command_s(*words: str) -> float:
    """The fastest of a few: a command starts a process, which whatever else runs here slows."""
    command = [sys.executable, "-m", "crewsite.cli", *words, "--json"]
    # As people start it: by the settings that `crew` chooses.
    environment = {name: text for name, text in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    taken = []
    for _ in range(COMMAND_CALLS):
        start = perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=environment)
        taken.append(perf_counter() - start)
    return min(taken)


@contextmanager
def serving() -> Iterator[str]:
    """The site of this home behind daphne, with its model loaded."""
    import httpx

    from tests.site import free_port

    port = free_port()
    command = [
        sys.executable,
        "-m",
        "daphne",
        "-b",
        "127.0.0.1",
        "-p",
        str(port),
        "crewsite.asgi:application",
    ]
    environment = {**os.environ, "CREW_PORT": str(port)}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet) as server:
        try:
            address = f"http://127.0.0.1:{port}"
            deadline = perf_counter() + START_S
            while perf_counter() < deadline:
                try:
                    ready = httpx.get(f"{address}/api/v1/health/ready", timeout=START_S).json()
                    if ready["embedder"] == "ready":
                        break
                except httpx.TransportError:
                    pass
                sleep(0.5)
            else:
                raise SystemExit("The site did not get ready.")
            yield address
        finally:
            server.terminate()
