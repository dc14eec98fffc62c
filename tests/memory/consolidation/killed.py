"""A process for tests that runs passes in children of its own and ends each child with SIGKILL at a chosen
statement after the model's answer. Reads one JSON command a line, answers one JSON line.

`{"conversations": [id], "kill_at": n}`: the child dies before its n-th statement to the database, counted
from the answer on; without `kill_at` it runs to its end and says how many statements there were.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings.test")
django.setup()

import faiss  # noqa: E402, F401 - what a pass loads is loaded once, before the children are made
from django.db import connection  # noqa: E402
from django.utils import timezone  # noqa: E402

from crewsite.embeddings.service import set_backend  # noqa: E402
from crewsite.jobs.leases import leases_reap  # noqa: E402
from crewsite.llm.providers import load_library  # noqa: E402
from memory.consolidation import passes  # noqa: E402
from tests.fakes import FakeEmbedder  # noqa: E402


class Counter:
    """Counts statements, and ends the process before the one it was told."""

    def __init__(self, kill_at: int | None) -> None:
        self.kill_at = kill_at
        self.count = 0

    def __call__(self, execute: Any, *arguments: Any) -> Any:
        self.count += 1
        if self.count == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(*arguments)


def run(conversations: list[str], kill_at: int | None) -> dict[str, Any]:
    set_backend(FakeEmbedder)
    # The dead worker's lease has expired by the time another looks.
    leases_reap(now=timezone.now().replace(year=timezone.now().year + 1))
    counter = Counter(kill_at)
    asked = passes.ask

    def counted(question: Any) -> Any:
        answer = asked(question)
        connection.execute_wrappers.append(counter)
        return answer

    passes.ask = counted
    states = [
        passes.pass_run(conversation_id=conversation, path="history", is_asked=True).state
        for conversation in conversations
    ]
    return {"states": states, "statements": counter.count}


def in_a_child(conversations: list[str], kill_at: int | None = None) -> dict[str, Any]:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        try:
            os.write(write_end, json.dumps(run(conversations, kill_at)).encode())
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status)}
    return dict(json.loads(said)) if said else {"states": ["broken"]}


if __name__ == "__main__":
    load_library()
    connection.close()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(in_a_child(**json.loads(line))) + "\n")
        sys.stdout.flush()
