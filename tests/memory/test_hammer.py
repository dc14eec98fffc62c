"""Eight processes writing one SQLite store at once, for `CREW_HAMMER_SECONDS` (30 by default)."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = 8
SECONDS = float(os.environ.get("CREW_HAMMER_SECONDS", "30"))

# Each process writes episodes and facts, deletes some, and prints what it was told is stored.
WORKER = """
import json, sys, time
import django
django.setup()
from django.db import OperationalError
from crewsite.accounts.services import default_workspace
from crewsite.security.origin import Origin, Source
from memory.models import EpisodicMemory
from memory.selectors import episodic_search
from memory.services import episodic_delete, episodic_write, semantic_write

name, seconds = sys.argv[1], float(sys.argv[2])
home, origin = default_workspace(), Origin(source=Source.USER_EXPLICIT)
acknowledged, deleted, facts, errors, number = [], [], {}, [], 0
end = time.monotonic() + seconds
while time.monotonic() < end:
    number += 1
    try:
        text = f"Process {name} wrote sentence {number} about the harbour."
        acknowledged.append(episodic_write(home=home, text=text, origin=origin).row.pk)
        facts[f"user.{name}.k{number % 5}"] = f"setting {number}"
        semantic_write(home=home, key=f"user.{name}.k{number % 5}", value=f"setting {number}", origin=origin)
        semantic_write(home=home, key="user.shared", value=f"{name} {number}", origin=origin)
        if number % 10 == 0:
            deleted.append(acknowledged.pop())
            episodic_delete(row=EpisodicMemory.all_objects.get(pk=deleted[-1]), origin=origin)
        if number % 7 == 0:
            episodic_search(home=home, query=f"harbour {name}", limit=3)
    except OperationalError as error:
        errors.append(str(error))
print(json.dumps({"acknowledged": acknowledged, "deleted": deleted, "facts": facts, "errors": errors}))
"""


@pytest.mark.slow
@pytest.mark.sqlite_only
@pytest.mark.timeout(SECONDS + 150)
def test_eight_processes_lose_nothing_and_never_find_the_database_locked(tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DATABASE_URL"},
        "CREW_HOME": str(tmp_path / "home"),
        "DJANGO_SETTINGS_MODULE": "crewsite.settings",
        "CREW_SKIP_MODEL_DOWNLOAD": "1",
        "CREW_LOG_LEVEL": "ERROR",
        "PYTHONPATH": str(ROOT),
    }
    (tmp_path / "home").mkdir()
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v", "0"], env=environment, cwd=ROOT, check=True, timeout=120)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, f"p{number}", str(SECONDS)],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]
    said = [worker.communicate(timeout=SECONDS + 120) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * PROCESSES, [err[-2000:] for _, err in said]
    answers = [json.loads(out.splitlines()[-1]) for out, _ in said]
    assert [error for answer in answers for error in answer["errors"]] == []

    store = sqlite3.connect(tmp_path / "home" / "crewsite.sqlite3")
    assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    live = {row for (row,) in store.execute("SELECT id FROM memory_episodicmemory WHERE NOT is_deleted")}
    acknowledged = {row for answer in answers for row in answer["acknowledged"]}
    assert acknowledged
    assert live == acknowledged
    assert not live & {row for answer in answers for row in answer["deleted"]}
    facts = dict(store.execute("SELECT key, value FROM memory_semanticmemory WHERE NOT is_deleted"))
    assert facts.keys() == {"user.shared"}.union(*(answer["facts"] for answer in answers))
    assert {key: json.loads(value) for key, value in facts.items() if key != "user.shared"} == {
        key: value for answer in answers for key, value in answer["facts"].items()
    }
    indexed = store.execute("SELECT object_id FROM search_document WHERE collection LIKE 'episodic:%'")
    assert {row for (row,) in indexed} == live
