from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crewsite.conversations.branches import branch_leave
from crewsite.conversations.exports import conversation_json, conversation_markdown
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_append
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    talk = make_conversation(alice, home, title="Mooring")
    asked = message_append(conversation=talk, role=Message.Role.USER, content="old words", author=alice)
    branch_leave(asked)
    new = message_append(
        conversation=talk, role=Message.Role.USER, content=f"my key is {KEY}", author=alice, is_first=True
    )
    calls = [{"id": "1", "name": "learn_add", "state": "done", "result": f"kept {KEY}", "args": {"n": 1}}]
    message_append(
        conversation=talk, role=Message.Role.ASSISTANT, content="*Noted.*", parent=new, tool_calls=calls
    )
    return talk


def test_markdown_holds_the_visible_branch_with_names_and_without_keys(talk: Conversation) -> None:
    text = conversation_markdown(talk)
    assert text.startswith("# Mooring\n")
    assert "## alice, " in text
    assert "## Crewsite, " in text
    assert "*Noted.*" in text
    assert "> Tool `learn_add`: done" in text
    assert "old words" not in text
    assert KEY not in text


def test_json_holds_every_version_and_says_which_is_visible(talk: Conversation) -> None:
    text = conversation_json(talk)
    data = json.loads(text)
    assert [(m["seq"], m["parent"], m["current"]) for m in data["messages"]] == [
        (1, None, False),
        (2, None, True),
        (3, 2, True),
    ]
    assert data["messages"][2]["tool_calls"][0]["args"] == {"n": 1}
    assert KEY not in text
