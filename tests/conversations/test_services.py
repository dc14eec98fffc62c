from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from django.db import connection

from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import (
    conversation_create,
    conversation_rename,
    conversation_set_mode,
    message_append,
    message_update,
    title_propose,
)
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace


@pytest.fixture
def conversation(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home)


def test_messages_are_numbered_in_order(conversation: Conversation) -> None:
    for text in ("one", "two", "three"):
        message_append(conversation=conversation, role=Message.Role.USER, content=text)
    assert list(conversation.messages.values_list("seq", "content")) == [(1, "one"), (2, "two"), (3, "three")]


@pytest.mark.django_db(transaction=True)
def test_two_writers_never_share_a_number(conversation: Conversation) -> None:
    def write() -> None:
        for _ in range(10):
            message_append(conversation=conversation, role=Message.Role.USER, content="x")
        connection.close()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(conversation.messages.values_list("seq", flat=True)) == list(range(1, 41))


def test_a_message_moves_the_conversation_to_the_top(conversation: Conversation) -> None:
    before = conversation.last_activity_at
    message_append(conversation=conversation, role=Message.Role.USER, content="x")
    conversation.refresh_from_db()
    assert conversation.last_activity_at > before


def test_what_is_said_in_private_stays_marked_after_the_mode_changes_back(conversation: Conversation) -> None:
    conversation_set_mode(conversation=conversation, mode=Conversation.Mode.INCOGNITO)
    secret = message_append(conversation=conversation, role=Message.Role.USER, content="secret")
    conversation_set_mode(conversation=conversation, mode=Conversation.Mode.PERSISTENT)
    open_again = message_append(conversation=conversation, role=Message.Role.USER, content="open")
    secret.refresh_from_db()
    assert secret.private
    assert not open_again.private


def test_a_nul_character_is_never_stored(conversation: Conversation) -> None:
    message = message_append(conversation=conversation, role=Message.Role.USER, content="a\x00b\ud800c")
    assert message.content == "abc"


def test_an_update_renders_anew_and_keeps_what_it_is_not_given(conversation: Conversation) -> None:
    message = message_append(
        conversation=conversation, role=Message.Role.ASSISTANT, content="**a**", tool_calls=[{"id": "1"}]
    )
    message_update(message=message, content="**b**", finish_reason="stop")
    message.refresh_from_db()
    assert message.content_html == "<p><strong>b</strong></p>\n"
    assert message.tool_calls == [{"id": "1"}]
    assert message.finish_reason == "stop"


def test_a_title_is_one_line_of_at_most_200_characters(alice: User, home: Workspace) -> None:
    conversation = conversation_create(owner=alice, workspace=home)
    conversation_rename(conversation=conversation, title="  two\nlines " + "x" * 300)
    assert conversation.title.startswith("two lines x")
    assert len(conversation.title) == 200


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How do I deploy? It fails.", "How do I deploy?"),
        ("# Fix the *build*\nplease", "Fix the build"),
        ("one two three four five six seven eight nine ten", "one two three four five six seven eight…"),
        ("", ""),
        ("x" * 300, "x" * 59 + "…"),
        ("Hi! Please look at the release notes. Thanks.", "Hi! Please look at the release notes"),
    ],
)
def test_a_title_is_proposed_from_the_first_words(text: str, title: str) -> None:
    assert title_propose(text) == title
