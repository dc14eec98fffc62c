"""Whole conversations through chat storage and consolidation with the scripted model: nothing is consolidated
twice, nothing skipped, and the store stays bounded. What a model would write is not measured.

`python -m bench consolidation --data FILE`, with the LoCoMo conversations (the file is not shipped).
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.locomo import SESSION_DATE, text_of
from bench.report import Bar, Report
from bench.site import prepare

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

PATHS: Final = ("preferences", "history")
# Rows one pass may write: 1 to 3 diary entries, 10 episodes, 10 lessons; 20 facts and 2 documents.
ROWS_PER_HISTORY_PASS: Final = 23
BARS: Final[dict[str, Bar]] = {
    "twice": ("<=", 0),
    "skipped": ("<=", 0),
    "failed_passes": ("<=", 0),
    "markers_behind": ("<=", 0),
    "rows_over_cap": ("<=", 0),
    "rows_of_a_second_run": ("<=", 0),
}


def run(options: argparse.Namespace) -> Report:
    if options.data is None:
        raise SystemExit("bench consolidation needs --data FILE with the LoCoMo conversations.")
    prepare()
    from tests.llm_server import LlmServer

    with LlmServer() as server:
        _connect(server.url)
        rows = [feed(entry) for entry in json.loads(Path(options.data).read_text())]
        figures = _figures(rows, server.requests)
        before = _stored()
        for row in rows:
            _rest(row)
        figures["rows_of_a_second_run"] = float(sum(_stored().values()) - sum(before.values()))
    return Report("consolidation", figures, BARS)


def _connect(url: str) -> None:
    from django.conf import settings

    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = url, "scripted"


def feed(entry: dict[str, Any]) -> Conversation:
    """One dialogue as one conversation: every turn as a message, a rest after every session."""
    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Message
    from crewsite.conversations.services import conversation_create, message_append
    from memory.consolidation.triggers import turn_ended

    name = str(entry["sample_id"])
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())
    home = Workspace.objects.create(name=name, slug=slug, is_isolated=True)
    owner, _ = User.objects.get_or_create(username="bench")
    row = conversation_create(owner=owner, workspace=home, title=name)
    talk = entry["conversation"]
    for number in sorted(int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key)):
        start = dt.datetime.strptime(talk[f"session_{number}_date_time"], SESSION_DATE).replace(tzinfo=dt.UTC)
        for place, turn in enumerate(talk[f"session_{number}"]):
            is_first = turn["speaker"] == talk["speaker_a"]
            message = message_append(
                conversation=row,
                role=Message.Role.USER if is_first else Message.Role.ASSISTANT,
                content=text_of(turn),
            )
            Message.objects.filter(pk=message.pk).update(created_at=start + dt.timedelta(minutes=place))
            turn_ended(row.pk)
            _work()
        _rest(row)
    return row


def _rest(row: Conversation) -> None:
    """The heartbeat as it would be three hours later."""
    from django.utils import timezone

    from memory.consolidation.triggers import heartbeat

    heartbeat(timezone.now() + dt.timedelta(hours=3, minutes=1))
    _work(later=True)


def _work(*, later: bool = False) -> None:
    """Run the queued jobs, as a worker would; `later` at the time the heartbeat saw."""
    from django.utils import timezone

    from crewsite.jobs.models import Job
    from memory.consolidation.passes import pass_run

    now = timezone.now() + (dt.timedelta(hours=3, minutes=1) if later else dt.timedelta())
    for job in Job.objects.filter(kind="consolidation", state=Job.State.QUEUED).order_by("pk"):
        conversation_id, path, _ = job.args
        outcome = pass_run(conversation_id=conversation_id, path=path, now=now)
        state = Job.State.DONE if outcome.ok else Job.State.FAILED
        Job.objects.filter(pk=job.pk).update(state=state)


def _figures(rows: list[Conversation], requests: list[dict[str, Any]]) -> dict[str, float]:
    from crewsite.conversations.models import Message
    from memory.consolidation.constants import PREFERENCES_EVERY_MESSAGES
    from memory.models import ConsolidationReceipt

    receipts = list(ConsolidationReceipt.objects.all())
    twice = skipped = behind = 0
    for row in rows:
        row.refresh_from_db()
        last = Message.objects.filter(conversation=row).count()
        for path in PATHS:
            covered = Counter(
                seq
                for receipt in receipts
                if receipt.conversation_id == row.pk and receipt.path == path and receipt.state == "done"
                for seq in range(receipt.first_seq, receipt.last_seq + 1)
            )
            # The last messages wait for thirty on the path of preferences.
            reached = last if path == "history" else last - last % PREFERENCES_EVERY_MESSAGES
            twice += sum(count - 1 for count in covered.values() if count > 1)
            skipped += sum(not covered[seq] for seq in range(1, reached + 1))
        behind += row.consolidated_until != last
    stored = _stored()
    passes = Counter(receipt.path for receipt in receipts if receipt.state == "done")
    over = sum(len(r.written) > ROWS_PER_HISTORY_PASS for r in receipts if r.path == "history")
    refusals = Counter(entry["code"] for receipt in receipts for entry in receipt.refused)
    return {
        "conversations": float(len(rows)),
        "messages": float(Message.objects.filter(conversation__in=rows).count()),
        "preferences_passes": float(passes["preferences"]),
        "history_passes": float(passes["history"]),
        "model_calls": float(len(requests)),
        "messages_cut": float(sum(receipt.messages_cut for receipt in receipts)),
        "twice": float(twice),
        "skipped": float(skipped),
        "markers_behind": float(behind),
        "failed_passes": float(sum(receipt.state == "failed" for receipt in receipts)),
        "rows_over_cap": float(over),
        **{f"stored_{name}": float(count) for name, count in stored.items()},
        **{f"refused_{code}": float(count) for code, count in sorted(refusals.items())},
    }


def _stored() -> dict[str, int]:
    from lessons.models import Lesson
    from memory.models import EpisodicMemory, HistoryEntry, PreferencesDocument, SemanticMemory

    return {
        "history": HistoryEntry.objects.count(),
        "episodes": EpisodicMemory.objects.count(),
        "facts": SemanticMemory.objects.count(),
        "lessons": Lesson.objects.count(),
        "preference_versions": PreferencesDocument.objects.count(),
    }
