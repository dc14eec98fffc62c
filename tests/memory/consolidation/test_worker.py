"""Consolidation in a real worker: django-q2 processes, the heartbeat and its schedule, a model over HTTP."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.llm_server import LlmServer
from tests.site import ROOT, Site, make_site_conversation, prepared_home

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]
PATIENCE_S = 60
TALK = """
import datetime as dt
from django.utils import timezone
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_append
row = Conversation.objects.get(pk={conversation!r})
for number in range(30):
    role = Message.Role.ASSISTANT if number % 2 else Message.Role.USER
    message_append(conversation=row, role=role, content=f"Ticket {{number}} is of customer {{number * 7}}")
Conversation.objects.update(last_activity_at=timezone.now() - dt.timedelta(hours=4))
"""


def until(ready: Callable[[], object]) -> bool:
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if ready():
            return True
        pause.wait(0.1)
    return False


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    shutil.copytree(prepared_home(), tmp_path, dirs_exist_ok=True)
    tmp_path.chmod(0o700)
    with LlmServer() as server:
        yield Site(tmp_path, {**server.environment(), "CREW_LOG_LEVEL": "ERROR"})


def test_the_schedule_of_a_worker_consolidates_both_paths_once(site: Site) -> None:
    conversation = make_site_conversation(site)
    site.run(TALK.format(conversation=conversation))
    site.manage("sync_schedules")
    worker = subprocess.Popen(
        [sys.executable, "manage.py", "qcluster"],
        cwd=ROOT,
        env={**site.environment, "CREW_WORKERS": "2"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        receipts = "SELECT path, state, first_seq, last_seq FROM memory_consolidationreceipt ORDER BY path"
        assert until(lambda: len(site.query(receipts)) == 2), site.query(
            "SELECT kind, state, error FROM jobs_job"
        )
        assert site.query(receipts) == [("history", "done", 1, 30), ("preferences", "done", 1, 30)]
        jobs = "SELECT count(*) FROM jobs_job WHERE kind = 'consolidation' AND state <> 'done'"
        assert until(lambda: site.query(jobs) == [(0,)])
        assert site.query("SELECT count(*) FROM memory_episodicmemory WHERE NOT is_deleted") == [(10,)]
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(10)
