"""A conversation to consolidate, and the scripted model that does it."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_append
from crewsite.jobs.models import Job
from crewsite.jobs.tasks import job_execute
from crewsite.llm import providers
from tests.factories import make_conversation
from tests.llm.conftest import no_failures_yet, server  # noqa: F401 - fixtures
from tests.llm_server import Reply, error_body, json_error

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace


@pytest.fixture
def conversation(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client repeats nothing by itself, so that one answer is one attempt."""
    monkeypatch.setattr(providers, "MAX_RETRIES", 0)


def say(
    conversation: Conversation, *texts: str, role: Message.Role = Message.Role.USER, **fields: Any
) -> Message:
    message = None
    for text in texts:
        message = message_append(conversation=conversation, role=role, content=text, **fields)
    assert message is not None
    return message


def talk(conversation: Conversation, count: int, *, text: Callable[[int], str] | None = None) -> None:
    """`count` messages in turn from the person and the assistant."""
    write = text or (lambda number: f"Message {number} about the billing service in Berlin")
    for number in range(1, count + 1):
        role = Message.Role.USER if number % 2 else Message.Role.ASSISTANT
        say(conversation, write(number), role=role)


def rest(conversation: Conversation, *, hours: float) -> None:
    """As if nobody had written for so long."""
    at = timezone.now() - dt.timedelta(hours=hours)
    Conversation.objects.filter(pk=conversation.pk).update(last_activity_at=at)
    conversation.refresh_from_db()


def work() -> list[Job]:
    """Run what is queued, as a worker would; a failing task ends as its job says."""
    jobs = list(Job.objects.filter(state=Job.State.QUEUED).order_by("pk"))
    for job in jobs:
        with contextlib.suppress(Exception):  # the queue logs it; the job has the reason
            job_execute(job.pk)
        job.refresh_from_db()
    return jobs


def refused(status: int, message: str = "no", **headers: str) -> Reply:
    reply = json_error(status, error_body(message, "error"))
    reply.headers.update({name.replace("_", "-"): value for name, value in headers.items()})
    return reply


def history(**fields: Any) -> Reply:
    answer = {"entries": [], "episodes": [], "lessons": [], **fields}
    return Reply(tools=[("history_pass", answer)])


def preferences(**fields: Any) -> Reply:
    answer = {"preferences": "", "projects": "", "contradicted": [], "facts": [], **fields}
    return Reply(tools=[("preferences_pass", answer)])
