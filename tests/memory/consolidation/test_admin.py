from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from crewsite.jobs.models import Job
from memory.consolidation.passes import pass_run
from memory.models import ConsolidationReceipt
from tests.factories import make_user
from tests.memory.consolidation.conftest import history, talk, work

if TYPE_CHECKING:
    from django.test import Client

    from crewsite.conversations.models import Conversation
    from tests.llm_server import LlmServer

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
LIST = reverse("admin:conversations_conversation_changelist")


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def act(client: Client, action: str, conversation: Conversation) -> str:
    data = {"action": action, "_selected_action": [str(conversation.pk)]}
    return client.post(LIST, data, follow=True).content.decode()


def test_an_operator_runs_a_pass_from_the_list_of_conversations(
    operator: Client, conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    assert "1 queued" in act(operator, "consolidate_history", conversation)
    assert "were queued before" in act(operator, "consolidate_history", conversation)
    assert "1 queued" in act(operator, "consolidate_preferences", conversation)
    assert [job.state for job in work()] == [Job.State.DONE] * 2
    assert ConsolidationReceipt.objects.done().count() == 2


def test_a_receipt_shows_range_outcome_and_refusals_and_cannot_be_changed(
    operator: Client, conversation: Conversation, server: LlmServer
) -> None:
    talk(conversation, 4)
    server.queue.append(history(episodes=[{"text": "example"}, {"text": "The index was rebuilt on Friday."}]))
    receipt = pass_run(conversation_id=conversation.pk, path="history", is_asked=True).receipt
    assert receipt is not None
    page = operator.get(reverse("admin:memory_consolidationreceipt_change", args=[receipt.pk]))
    body = page.content.decode()
    assert "1 to 4: 4 read" in body
    assert "placeholder" in body
    assert 'name="_save"' not in body
    shown = operator.get(reverse("admin:conversations_conversation_change", args=[conversation.pk]))
    assert "scripted" in shown.content.decode()
    assert operator.get(reverse("admin:memory_consolidationreceipt_changelist")).status_code == 200
    added = operator.get(reverse("admin:memory_consolidationreceipt_add"))
    assert added.status_code == 403


def test_a_failed_job_that_a_person_retries_runs_although_its_tries_are_used_up(
    conversation: Conversation, server: LlmServer
) -> None:
    from crewsite.jobs.services import job_retry
    from memory.consolidation.triggers import pass_queue
    from tests.memory.consolidation.conftest import refused

    talk(conversation, 4)
    server.queue.append(refused(400))
    pass_queue(conversation.pk, "history", "asked")
    (failed,) = work()
    assert failed.state == Job.State.FAILED
    assert job_retry(failed) is not None
    assert [job.state for job in work()] == [Job.State.DONE]
    assert ConsolidationReceipt.objects.done().count() == 1
