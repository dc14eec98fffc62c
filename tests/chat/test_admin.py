from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from crewsite.chat.services import Injection, turn_begin, turn_finish, turn_record_packet, turn_start
from tests.factories import make_conversation

if TYPE_CHECKING:
    from django.test import Client

    from crewsite.accounts.models import User, Workspace
    from crewsite.chat.models import Turn


@pytest.fixture
def operator(client: Client, admin_user: User) -> Client:
    client.force_login(admin_user, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def turn(alice: User, home: Workspace) -> Turn:
    conversation = make_conversation(alice, home)
    text = "<img src=x onerror=alert(1)>"
    started, _ = turn_start(conversation=conversation, user=alice, text=text, client_key="1")
    turn_begin(turn_id=started.pk)
    packet = {"blocks": [{"name": "lessons", "text": "<script>alert(1)</script>"}]}
    rows = [Injection("lesson", 1, None)]
    turn_record_packet(turn_id=started.pk, packet=packet, injections=rows, model="scripted")
    return turn_finish(turn_id=started.pk, text="[x](javascript:alert(1))")


@pytest.mark.parametrize(
    "page", ["chat_turn", "chat_turninjection", "conversations_conversation", "conversations_message"]
)
def test_the_lists_open(operator: Client, turn: Turn, page: str) -> None:
    assert operator.get(reverse(f"admin:{page}_changelist")).status_code == 200


def test_a_turn_shows_its_packet_and_rows_and_cannot_be_changed(operator: Client, turn: Turn) -> None:
    address = reverse("admin:chat_turn_change", args=[turn.pk])
    page = operator.get(address).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert operator.post(address, {"error": "changed"}).status_code == 403


def test_a_message_is_shown_inert_and_cannot_be_changed(operator: Client, turn: Turn) -> None:
    for message in (turn.user_message, turn.assistant_message):
        assert message is not None
        address = reverse("admin:conversations_message_change", args=[message.pk])
        page = operator.get(address).content.decode()
        assert "<img src=x" not in page
        assert 'href="javascript:alert' not in page
        assert operator.post(address, {"content": "changed"}).status_code == 403


def test_a_conversation_can_be_renamed_and_shows_its_messages(operator: Client, turn: Turn) -> None:
    page = operator.get(reverse("admin:conversations_conversation_change", args=[turn.conversation_id]))
    assert page.status_code == 200
    assert "&lt;img src=x" in page.content.decode()
