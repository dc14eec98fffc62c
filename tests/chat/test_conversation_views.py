"""What is done to a whole conversation by its forms, and that nobody else may."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.urls import reverse

from crewsite.chat.models import Turn
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_append
from crewsite.search.models import Document
from crewsite.security.models import MemoryEvent
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
FORMS = ("rename", "pin", "archive", "delete")
EXPORTS = ("export_md", "export_json")


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    talk = make_conversation(alice, home, title="Mooring lines")
    asked = message_append(conversation=talk, role=Message.Role.USER, content="which knot", author=alice)
    said = message_append(conversation=talk, role=Message.Role.ASSISTANT, content="a bowline")
    Turn.objects.create(conversation=talk, user_message=asked, assistant_message=said, client_key="1")
    return talk


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def url(talk: Conversation, name: str) -> str:
    return reverse(f"chat:{name}", args=[talk.pk])


def test_a_stranger_and_a_fellow_member_get_404_and_change_nothing(
    talk: Conversation, bob: User, charlie: User
) -> None:
    for person in (bob, charlie):
        client = client_of(person)
        assert {client.post(url(talk, name), {"title": "mine"}).status_code for name in FORMS} == {404}
        assert {client.get(url(talk, name)).status_code for name in (*EXPORTS, "delete")} == {404}
    assert Client().get(url(talk, "export_md")).status_code == 302
    talk.refresh_from_db()
    assert (talk.title, talk.pinned, talk.archived_at) == ("Mooring lines", False, None)


def test_a_message_is_copied_as_it_was_written(talk: Conversation, alice: User, bob: User) -> None:
    message_append(conversation=talk, role=Message.Role.ASSISTANT, content="**a bowline** <b>")
    address = reverse("chat:message_text", args=[talk.pk, 3])
    answer = client_of(alice).get(address)
    assert (answer.content.decode(), answer["Content-Type"]) == (
        "**a bowline** <b>",
        "text/plain; charset=utf-8",
    )
    assert client_of(bob).get(address).status_code == 404
    for seq in (4, 10**30):
        missing = reverse("chat:message_text", args=[talk.pk, seq])
        assert client_of(alice).get(missing).status_code == 404


def test_pinning_and_archiving_go_both_ways(talk: Conversation, alice: User) -> None:
    client = client_of(alice)
    client.post(url(talk, "pin"), {"on": "1"})
    assert "Pinned" in client.get(reverse("chat:list")).content.decode()
    client.post(url(talk, "pin"), {"on": "0"})
    assert "Pinned" not in client.get(reverse("chat:list")).content.decode()
    client.post(url(talk, "archive"), {"on": "1"})
    assert "Mooring lines" not in client.get(reverse("chat:list")).content.decode()
    assert "Mooring lines" in client.get(reverse("chat:list"), {"archived": ""}).content.decode()
    assert "Mooring lines" in client.get(reverse("chat:list"), {"q": "knot"}).content.decode()
    client.post(url(talk, "archive"), {"on": "0"})
    assert "Mooring lines" in client.get(reverse("chat:list")).content.decode()


def test_the_page_gets_the_fresh_list_instead_of_a_redirect(talk: Conversation, alice: User) -> None:
    answer = client_of(alice).post(url(talk, "rename"), {"title": "Knots"}, headers={"X-Fragment": "1"})
    assert answer.status_code == 200
    assert "Knots" in answer.content.decode()


def test_deleting_asks_first_and_then_leaves_nothing_but_an_event(talk: Conversation, alice: User) -> None:
    client = client_of(alice)
    assert Document.objects.filter(text__contains="bowline").exists()
    assert "gone for good" in client.get(url(talk, "delete")).content.decode()
    assert Conversation.objects.exists()
    assert client.post(url(talk, "delete"))["Location"] == reverse("chat:home")
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()
    assert not Turn.objects.exists()
    assert not Document.objects.filter(text__contains="bowline").exists()
    event = MemoryEvent.objects.get(memory_type="conversation")
    assert (event.event, event.actor, event.conversation_id) == ("delete", "alice", talk.pk)
    assert "Mooring" not in f"{event.old_value}{event.new_value}{event.reason}"


def test_exports_are_files_named_after_the_title(talk: Conversation, alice: User) -> None:
    client = client_of(alice)
    markdown = client.get(url(talk, "export_md"))
    assert markdown["Content-Disposition"] == 'attachment; filename="mooring-lines.md"'
    assert "a bowline" in markdown.content.decode()
    exported = json.loads(client.get(url(talk, "export_json")).content)
    assert [message["content"] for message in exported["messages"]] == ["which knot", "a bowline"]


def test_a_title_of_signs_alone_still_names_a_file(talk: Conversation, alice: User) -> None:
    Conversation.objects.filter(pk=talk.pk).update(title='"\r\nX: y/../')
    named = client_of(alice).get(url(talk, "export_md"))["Content-Disposition"]
    assert named == 'attachment; filename="x-y.md"'
