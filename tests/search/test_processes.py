"""Several real processes on one data home: what one writes, another finds; what one breaks, another
survives.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

pytestmark = [pytest.mark.sqlite_only]
HOME = "episodic:1"


class Child:
    def __init__(self, home: Path) -> None:
        environment = {
            **os.environ,
            "CREW_HOME": str(home),
            "CREW_SKIP_MODEL_DOWNLOAD": "1",
            "DATABASE_URL": "",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.search.child"],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "stderr.log").open("ab"),
            text=True,
        )

    def send(self, name: str, *arguments: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, arguments]) + "\n")
        self.process.stdin.flush()

    def line(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def __call__(self, name: str, *arguments: Any) -> Any:
        self.send(name, *arguments)
        return self.line()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def data_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crew-home")
    child = Child(home)
    child("migrate")
    child.close()
    return home


@pytest.fixture
def start(data_home: Path) -> Iterator[Callable[[], Child]]:
    children: list[Child] = []

    def begin() -> Child:
        children.append(Child(data_home))
        return children[-1]

    yield begin
    for child in children:
        child.close()


def texts(numbers: range) -> dict[int, str]:
    return {i: f"subject{i} matter{i} topic{i % 5}" for i in numbers}


def nearest(child: Child, collection: str, query: str, k: int = 1) -> list[int]:
    return child("search", collection, query, k, "vector")["ids"]


def wait_for_draft(folder: Path, seconds: float = 20.0) -> None:
    """Until a base file is being written."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if any(folder.rglob("*.tmp")):
            return
    raise AssertionError("No base file was written.")


def test_what_one_process_writes_and_deletes_the_other_sees_at_its_next_search(
    start: Callable[[], Child],
) -> None:
    writer, reader = start(), start()
    writer("put", "episodic:7", texts(range(1, 11)))
    assert nearest(reader, "episodic:7", "subject3 matter3") == [3]
    writer("put", "episodic:7", texts(range(101, 201)))
    for mode in ("vector", "keyword"):
        seen = reader("search", "episodic:7", "topic0 topic1 topic2 topic3 topic4", 500, mode)["ids"]
        assert sorted(seen) == [*range(1, 11), *range(101, 201)]
    assert nearest(reader, "episodic:7", "subject150 matter150") == [150]
    writer("delete", "episodic:7", 150)
    assert 150 not in reader("search", "episodic:7", "subject150 matter150 topic0", 500)["ids"]


def test_a_keyword_table_dropped_under_a_running_process_heals(start: Callable[[], Child]) -> None:
    server, vandal = start(), start()
    server("put", "episodic:8", {1: "the heron stands", 2: "適者生存"})
    assert server("search", "episodic:8", "heron", 5, "keyword")["ids"] == [1]
    vandal("sql", "DROP TABLE search_words")
    answer = server("search", "episodic:8", "herons", 5, "keyword")
    assert (answer["ids"], answer["degraded"]) == ([1], ["keyword_index_rebuilt"])
    vandal("sql", "DROP TABLE search_words")
    server("put", "episodic:8", {3: "another heron"})
    assert sorted(vandal("search", "episodic:8", "heron", 5, "keyword")["ids"]) == [1, 3]


def test_killing_the_writer_of_a_base_file_costs_nothing(start: Callable[[], Child], data_home: Path) -> None:
    rows = texts(range(1, 3001))
    writer_again = start()
    writer_again("put", HOME, rows)
    for _ in range(3):
        writer = start()
        writer.send("write_base_for_ever", HOME)
        assert writer.line() == "written"
        wait_for_draft(data_home / "index")
        os.kill(writer.process.pid, signal.SIGKILL)
        writer.process.wait()
    reader = start()
    for pk in (1, 1500, 3000):
        assert nearest(reader, HOME, rows[pk]) == [pk]
    # The next writer clears away what the killed ones left, and its file is what readers map.
    assert writer_again("write_base", HOME) == 3000
    assert list((data_home / "index").rglob("*.tmp")) == []
    assert nearest(reader, HOME, rows[77]) == [77]
    assert reader("is_mapped", ".base")


def test_two_processes_share_one_mapped_file_and_follow_a_new_one(start: Callable[[], Child]) -> None:
    writer, first, second = start(), start(), start()
    rows = texts(range(1, 201))
    writer("put", "episodic:9", rows)
    writer("write_base", "episodic:9")
    for reader in (first, second):
        assert nearest(reader, "episodic:9", rows[50]) == [50]
        assert reader("is_mapped", "episodic_9")
    more = texts(range(300, 320))
    writer("put", "episodic:9", more)
    writer("write_base", "episodic:9")
    writer("delete", "episodic:9", 310)
    for reader in (first, second):
        assert nearest(reader, "episodic:9", more[305]) == [305]
        assert nearest(reader, "episodic:9", more[310]) != [310]
