from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.chat.services import turn_begin, turn_finish, turn_start
from crewsite.jobs.models import Job
from tests.factories import make_conversation

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from crewsite.accounts.models import User, Workspace


@pytest.mark.django_db(transaction=True)
@pytest.mark.sqlite_only
def test_the_turn_that_makes_thirty_messages_queues_a_preferences_pass(
    home: Workspace, alice: User, settings: SettingsWrapper
) -> None:
    conversation = make_conversation(alice, home)
    settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = "http://127.0.0.1:9/v1", "scripted"
    for number in range(15):
        turn, _ = turn_start(conversation=conversation, user=alice, text="hello", client_key=str(number))
        turn_begin(turn_id=turn.pk)
        assert not Job.objects.exists()
        turn_finish(turn_id=turn.pk, text="hi")
    assert [job.args for job in Job.objects.all()] == [[str(conversation.pk), "preferences", "due"]]
