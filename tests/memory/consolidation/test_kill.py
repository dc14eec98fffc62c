"""Example 6 of chapter 04, 4.5: a worker that is killed between the model's answer and the commit."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.llm_server import LlmServer
from tests.site import ROOT, Site, prepared_home

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]
KILL_POINTS = 20

# So many conversations of six messages each, and their ids.
CONVERSATIONS = f"""
import hashlib, json
from crewsite.accounts.models import User, Workspace
from crewsite.conversations.models import Message
from crewsite.conversations.services import conversation_create, message_append
owner, home = User.objects.get(username="alice"), Workspace.objects.get(slug="default")
ids = []
for place in range({KILL_POINTS} + 2):
    conversation = conversation_create(owner=owner, workspace=home)
    for number in range(3):
        said = f"Ticket {{place}}-{{number}} about customer {{place * 7919}} closed by team {{number * 31}}"
        word = hashlib.sha256(f"{{place}}-{{number}}".encode()).hexdigest()
        corrected = f"no, keep {{word[:8]}} {{word[8:16]}} {{word[16:24]}}"
        message_append(conversation=conversation, role=Message.Role.USER, content=said)
        message_append(conversation=conversation, role=Message.Role.USER, content=corrected)
    ids.append(str(conversation.pk))
print(json.dumps(ids))
"""


class Nursery:
    """The process of `killed.py`."""

    def __init__(self, site: Site) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.memory.consolidation.killed"],
            cwd=ROOT,
            env=site.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **command: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait(10)
        self.process.stdout.close()  # type: ignore[union-attr]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    shutil.copytree(prepared_home(), tmp_path, dirs_exist_ok=True)
    tmp_path.chmod(0o700)
    with LlmServer() as server:
        yield Site(tmp_path, {**server.environment(), "CREW_LOG_LEVEL": "ERROR"})


def rows(site: Site, conversation: str) -> dict[str, int]:
    """What the store holds of one conversation."""
    key = conversation.replace("-", "")
    tables = {
        "memory_historyentry": "",
        "memory_episodicmemory": "AND NOT is_deleted",
        "lessons_lesson": "AND NOT is_deleted",
        "memory_consolidationreceipt": "AND state = 'done'",
        "memory_events": "AND event = 'create'",
    }
    counts = {}
    with sqlite3.connect(site.home / "crewsite.sqlite3", timeout=20) as database:
        for table, more in tables.items():
            sql = f"SELECT count(*) FROM {table} WHERE conversation_id = ? {more}"
            counts[table] = database.execute(sql, [key]).fetchone()[0]
        sql = "SELECT consolidated_until FROM conversations_conversation WHERE id = ?"
        counts["consolidated_until"] = database.execute(sql, [key]).fetchone()[0]
    return counts


def test_6_a_worker_killed_at_any_point_after_the_answer_leaves_all_or_nothing(site: Site) -> None:
    ids: list[str] = json.loads(site.run(CONVERSATIONS))
    nursery = Nursery(site)
    try:
        nursery.ask(conversations=ids[:1])  # the first pass of a store also makes its vector space
        whole = nursery.ask(conversations=ids[1:2])
        assert whole["states"] == ["done"]
        expected = rows(site, ids[0])
        assert expected["memory_episodicmemory"] == 3
        assert expected["memory_consolidationreceipt"] == 1
        points = random.sample(range(1, whole["statements"] + 1), KILL_POINTS)
        killed = 0
        for conversation, point in zip(ids[2:], points, strict=True):
            ended = nursery.ask(conversations=[conversation], kill_at=point)
            killed += ended == {
                "signal": int(signal.SIGKILL)
            }  # the last few may come after the last statement
            left = rows(site, conversation)
            assert set(left.values()) == {0} or left == expected, f"killed at statement {point}"
        assert killed >= KILL_POINTS - 3
        again = nursery.ask(conversations=ids[2:])
        assert set(again["states"]) <= {"done", "nothing"}
        for conversation, point in zip(ids[2:], points, strict=True):
            assert rows(site, conversation) == expected, f"killed at statement {point}"
    finally:
        nursery.close()
