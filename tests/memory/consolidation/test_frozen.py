"""What happens to a pass when the conversation, a document or the embedder moves while the model thinks."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_update
from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.jobs.models import Job, Lease
from crewsite.jobs.services import job_cancel
from memory.consolidation import passes
from memory.consolidation.passes import pass_run
from memory.consolidation.tasks import consolidate
from memory.models import ConsolidationReceipt, EpisodicMemory, PreferencesDocument
from memory.services import document_replace
from tests.factories import EXPLICIT
from tests.llm_server import error_body, json_error
from tests.memory.consolidation.conftest import history, preferences, say, talk

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from tests.fakes import FakeEmbedder
    from tests.llm_server import LlmServer, Reply

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Once, between the model's answer, or its failure, and the writing."""
    asked = passes.ask

    def ask_and_act(question: Any) -> Any:
        try:
            return asked(question)
        finally:
            monkeypatch.setattr(passes, "ask", asked)
            act()

    monkeypatch.setattr(passes, "ask", ask_and_act)


def run(conversation: Conversation, path: str = "history") -> str:
    return pass_run(conversation_id=conversation.pk, path=path, is_asked=True).state


@pytest.mark.parametrize("change", ["edit", "delete", "hide", "new turn", "opt out", "incognito"])
def test_a_change_inside_the_range_leaves_the_pass_pending(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    talk(conversation, 6)
    third = conversation.messages.get(seq=3)
    acts: dict[str, Callable[[], Any]] = {
        "edit": lambda: message_update(message=third, content="Something else altogether"),
        "delete": third.delete,
        "hide": lambda: Message.objects.filter(pk=third.pk).update(private=True),
        "new turn": lambda: say(conversation, "And one more thing about the billing service"),
        "opt out": lambda: Conversation.objects.update(learns=False),
        "incognito": lambda: Conversation.objects.update(mode="incognito"),
    }
    meanwhile(monkeypatch, acts[change])
    assert run(conversation) == "changed"
    conversation.refresh_from_db()
    assert conversation.consolidated_until == 0
    assert not EpisodicMemory.objects.exists()
    assert not ConsolidationReceipt.objects.exists()
    Conversation.objects.update(learns=True, mode="persistent")
    assert run(conversation) == "done"


def test_talk_that_goes_on_does_not_starve_the_preferences(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 30)
    meanwhile(monkeypatch, lambda: say(conversation, "And one more thing"))
    assert run(conversation, "preferences") == "done"
    conversation.refresh_from_db()
    assert conversation.prefs_offset == 30


def test_a_document_that_a_person_edits_meanwhile_is_not_overwritten(
    conversation: Conversation, server: LlmServer, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 4)

    def edit() -> None:
        document_replace(model=PreferencesDocument, workspace=home, text="- Likes tea", origin=EXPLICIT)

    meanwhile(monkeypatch, edit)
    server.queue.append(preferences(preferences="- Likes coffee"))
    assert run(conversation, "preferences") == "changed"
    server.queue.append(preferences(preferences="- Likes coffee"))
    assert run(conversation, "preferences") == "done"
    live = PreferencesDocument.objects.get(replaced_at__isnull=True)
    assert live.text.splitlines() == ["- Likes coffee", "- Likes tea"]


def test_a_job_cancelled_while_the_model_thinks_writes_nothing(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 4)
    meanwhile(monkeypatch, lambda: job_cancel(Job.objects.get()))
    consolidate(str(conversation.pk), "history", "asked")
    assert Job.objects.get().state == Job.State.CANCELLED
    assert not ConsolidationReceipt.objects.exists()
    assert not Lease.objects.exists()


def test_maintenance_that_begins_meanwhile_costs_no_try(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 4)

    def begin() -> None:
        raise MaintenanceInProgress(code="restore", note="A restore runs.", until=timezone.now())

    meanwhile(monkeypatch, begin)
    assert run(conversation) == "waiting"
    assert not ConsolidationReceipt.objects.exists()
    assert run(conversation) == "done"


@pytest.mark.django_db(transaction=True)
def test_nothing_is_embedded_and_no_model_asked_inside_a_transaction(
    conversation: Conversation, server: LlmServer, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 6)
    inside: list[str] = []
    made = embedder.embed

    def watched(text: str, kind: str = "document") -> Any:
        if connection.in_atomic_block:
            inside.append(text)
        return made(text, kind)

    monkeypatch.setattr(embedder, "embed", watched)
    meanwhile(monkeypatch, lambda: inside.append("model") if connection.in_atomic_block else None)
    answer = {
        "entries": [{"title": "Billing moved", "text": "It went to Berlin."}],
        "episodes": [{"text": f"Step {n} of the move was finished by team {n}."} for n in range(10)],
        "lessons": [{"rule": f"Ask team {n} before step {n}", "negative": "guessing"} for n in range(3)],
    }
    server.queue.append(history(**answer))
    assert run(conversation) == "done"
    facts = [{"key": f"user.k{n}", "value": f"value {n}", "confidence": 0.9} for n in range(5)]
    server.queue.append(preferences(facts=facts))
    assert run(conversation, "preferences") == "done"
    assert inside == []


def test_a_conversation_deleted_while_the_model_thinks_is_no_failure(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 2)
    meanwhile(monkeypatch, lambda: Conversation.objects.filter(pk=conversation.pk).delete())
    server.queue.append(history(episodes=[{"text": "The billing service moved to Berlin."}]))
    assert run(conversation) == "changed"
    assert (EpisodicMemory.objects.count(), ConsolidationReceipt.objects.count()) == (0, 0)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "answer",
    [
        history(episodes=[{"text": "The billing service moved to Berlin."}]),
        json_error(400, error_body("no", "invalid_request")),
    ],
    ids=["answered", "failed"],
)
def test_a_pass_that_lost_its_lease_leaves_the_range_to_the_other(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch, answer: Reply
) -> None:
    talk(conversation, 2)
    meanwhile(monkeypatch, lambda: Lease.objects.update(owner="another worker"))
    server.queue.append(answer)
    assert run(conversation) == "busy"
    assert (EpisodicMemory.objects.count(), ConsolidationReceipt.objects.count()) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_a_pass_renews_its_lease_while_the_model_thinks(
    conversation: Conversation, server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(conversation, 2)
    monkeypatch.setattr(passes, "RENEW_SECONDS", 0.01)
    soon, renewed = timezone.now() + dt.timedelta(seconds=5), threading.Event()

    def thinks() -> None:
        Lease.objects.update(expires_at=soon)
        for _ in range(200):
            if Lease.objects.get().expires_at > soon:
                renewed.set()
                break
            renewed.wait(0.01)

    meanwhile(monkeypatch, thinks)
    server.queue.append(history(episodes=[{"text": "The billing service moved to Berlin."}]))
    assert run(conversation) == "done"
    assert renewed.is_set()
