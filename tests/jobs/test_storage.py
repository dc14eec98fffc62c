"""A database that takes no row: told in words through every door, and nothing is lost."""

from __future__ import annotations

import asyncio
import shutil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import InternalError, OperationalError, connection
from django.utils import timezone
from rest_framework.test import APIClient

from crewsite.api.health import readiness
from crewsite.chat import runner as module
from crewsite.chat.hub import hub
from crewsite.chat.interruption import _interrupt
from crewsite.chat.models import Turn
from crewsite.chat.runner import runner
from crewsite.chat.services import Draft, turn_begin, turn_finish, turn_start, turns_save
from crewsite.jobs import storage
from crewsite.jobs.storage import store_refusal
from memory.models import EpisodicMemory
from tests.factories import make_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.test import Client

    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "The disk was full on the day the comet came. " * 40


@pytest.fixture
def full_disk(home: Workspace) -> Iterator[None]:
    """SQLite's own limit fails a write exactly as a full disk does."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # pages that earlier tests left free would take rows still
        cursor.execute("PRAGMA max_page_count")
        (before,) = cursor.fetchone()
        cursor.execute("PRAGMA max_page_count = 1")  # as many as there are
        yield
        cursor.execute(f"PRAGMA max_page_count = {before}")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("database or disk is full", "disk_full"),
        ("attempt to write a readonly database", "read_only"),
        ("database is locked", "database_busy"),
        ("unable to open database file", "database_unavailable"),
    ],
)
@pytest.mark.sqlite_only
def test_what_sqlite_says_of_its_disk_has_words(said: str, code: str) -> None:
    refusal = store_refusal(OperationalError(said))
    assert refusal is not None
    assert refusal.code == code
    assert said not in str(refusal)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("DiskFull", "disk_full"),
        ("ReadOnlySqlTransaction", "read_only"),
        ("DeadlockDetected", "database_busy"),
        ("AdminShutdown", "database_unavailable"),
        ("StatementTooComplex", None),
        ("QueryCanceled", None),
    ],
)
def test_what_a_server_says_of_itself_has_words(
    kind: str, code: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = pytest.importorskip("psycopg").errors
    monkeypatch.setattr(storage, "connection", SimpleNamespace(vendor="postgresql"))
    told = (InternalError if kind == "ReadOnlySqlTransaction" else OperationalError)("...")
    told.__cause__ = getattr(errors, kind)("...")
    refusal = store_refusal(told)
    assert (refusal.code if refusal else None) == code


@pytest.mark.sqlite_only
def test_a_fault_of_ours_is_none_of_the_disk() -> None:
    assert store_refusal(OperationalError("no such table: memory_ghost")) is None
    assert store_refusal(ValueError("database or disk is full")) is None


@pytest.mark.sqlite_only
def test_a_write_on_a_full_disk_is_refused_in_words(full_disk: None, alice: User, home: Workspace) -> None:
    client = APIClient()
    client.force_authenticate(alice)
    answers = [
        client.post("/api/v1/memory/episodic/", {"text": f"{n} {TEXT}"}, format="json") for n in range(20)
    ]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused
    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (503, "disk_full")
        assert answer.headers["Retry-After"]
        assert "Nothing was changed" in answer.json()["detail"]
    assert EpisodicMemory.objects.count() == 20 - len(refused)


@pytest.mark.sqlite_only
def test_a_page_says_that_the_database_is_away(
    client: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks cannot be read then either."""

    def away(*_: object) -> None:
        raise OperationalError("unable to open database file")

    client.force_login(alice)
    monkeypatch.setattr(SessionStore, "_get_session_from_db", away)
    answer = client.get("/")
    assert answer.status_code == 503
    assert "does not answer" in answer.content.decode()
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.sqlite_only
def test_a_page_on_a_full_disk_says_so(full_disk: None, client: Client, alice: User) -> None:
    client.force_login(alice)
    for number in range(20):
        answer = client.post("/lessons/teach/", {"rule": f"{number} {TEXT}"[:900]})
        if answer.status_code == 503:
            break
    assert "The disk is full" in answer.content.decode()


@pytest.fixture
def turn(alice: User, home: Workspace) -> Turn:
    conversation = make_conversation(alice, home)
    return turn_start(conversation=conversation, user=alice, text="hello", client_key="1")[0]


async def test_the_end_of_a_turn_waits_for_room_and_is_told_then(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def full(**fields: Any) -> Turn:
        tries.append(fields["text"])
        if len(tries) < 3:
            raise OperationalError("database or disk is full")
        return turn_finish(**fields)

    monkeypatch.setattr(module, "turn_finish", full)
    monkeypatch.setattr(module, "SAVE_EVERY_S", 0.05)
    subscription = hub.subscribe(turn.conversation_id)
    runner.submit(turn, user_id=alice.pk, limit=1)
    told = []
    async with asyncio.timeout(20):
        while not told or told[-1]["type"] != "turn.done":
            item = await subscription.get()
            assert item is not None
            told.append(item)
    hub.unsubscribe(subscription)
    assert [item["level"] for item in told if item["type"] == "notice"] == ["warning"]
    await turn.arefresh_from_db()
    assert turn.state == Turn.State.DONE
    assert len(set(tries)) == 1
    assert told[-1]["message"]["content"] == tries[0]


async def test_a_stop_does_not_wait_for_room(
    turn: Turn, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_full = True

    def full(**fields: Any) -> Turn:
        if is_full:
            raise OperationalError("database or disk is full")
        return turn_finish(**fields)

    monkeypatch.setattr(module, "turn_finish", full)
    monkeypatch.setattr(module, "SAVE_EVERY_S", 0.05)
    monkeypatch.setattr(module, "FOLLOW_EVERY_S", 0.05)
    subscription = hub.subscribe(turn.conversation_id)
    runner.submit(turn, user_id=alice.pk, limit=1)
    async with asyncio.timeout(20):
        while (item := await subscription.get()) is None or item["type"] != "notice":
            pass
        assert await runner.stop(turn.pk)
        is_full = False
        while (item := await subscription.get()) is None or item["type"] != "turn.done":
            pass
    hub.unsubscribe(subscription)
    await turn.arefresh_from_db()
    assert turn.state == Turn.State.DONE


def test_an_answer_taken_for_gone_while_it_waited_for_room_is_whole(turn: Turn) -> None:
    turn_begin(turn_id=turn.pk)
    turns_save([Draft(turn.pk, "the wh", tool_calls=[], first_token_at=None)])
    assert _interrupt(Turn.objects.select_related("user_message", "assistant_message").get(), timezone.now())
    done = turn_finish(turn_id=turn.pk, text="the whole answer")
    assert done.state == Turn.State.DONE
    assert done.assistant_message is not None
    assert done.assistant_message.content == "the whole answer"


def test_readiness_names_a_disk_that_is_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "disk_full" not in readiness()["degraded"]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 1_000))
    assert "disk_full" in readiness()["degraded"]
