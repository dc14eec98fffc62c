"""Finding what was said in earlier conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest

from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import conversation_set_mode, message_append, message_update
from crewsite.llm.tools import ToolContext
from crewsite.search.recall import Asker, search_all
from crewsite.search.reconcile import reconcile
from crewsite.search.tasks import embeddings_backfill
from memory.neighbourhood import windows
from memory.tools import memory_recall
from memory.transcripts import TranscriptKind, _around
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]
USER, ASSISTANT = Message.Role.USER, Message.Role.ASSISTANT


def say(conversation: Conversation, text: str, role: Message.Role = USER, **fields: object) -> Message:
    return message_append(conversation=conversation, role=role, content=text, **fields)  # type: ignore[arg-type]


def found(home: Workspace, who: User | None, query: str, **asked: object) -> list[str]:
    asker = Asker(who.pk, **asked) if who else None  # type: ignore[arg-type]
    hits = TranscriptKind().recall(query=query, workspace=home, limit=5, asker=asker)
    return [hit.text for hit in hits]


def test_what_was_said_is_found_by_word_at_once_and_by_meaning_after_the_backfill(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    talk = make_conversation(alice, home)
    say(talk, "The violin is at the repair shop", author=alice)
    say(talk, "I will remind you on Friday", role=ASSISTANT)
    assert found(home, alice, "violin")[0] == f"{alice.username}: The violin is at the repair shop"
    embeddings_backfill()
    recall = search_all(query="violin", workspace=home, kinds=["message"], asker=Asker(alice.pk))
    assert recall.hits[0].legs == ("vector", "keyword")
    assert recall.hits[0].citation.startswith("msg:")
    assert recall.degraded == ()


def test_what_stands_beside_a_message_counts_however_long_another_conversation_is(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    long, alone, beside = (make_conversation(alice, home, id=UUID(int=n)) for n in (1, 3, 2))
    Message.objects.bulk_create(
        Message(conversation=long, seq=n, role=USER, content="weather") for n in range(1, 5_002)
    )
    say(long, "a violin")
    say(alone, "the violin came back")
    for text in ("is the violin at the repair shop?", "the violin came back"):
        say(beside, text)
        say(beside, "noted", role=Message.Role.SYSTEM)
    say(beside, "from the shop after its repair")
    hits = TranscriptKind().recall(
        query="violin came back repair shop", workspace=home, limit=5, asker=Asker(alice.pk)
    )
    same = [hit.object_id for hit in hits if hit.text == "user: the violin came back"]
    assert [Message.objects.get(pk=pk).conversation for pk in same] == [beside, alone]


def test_beside_a_message_stands_what_can_be_found_in_the_order_it_was_said(
    home: Workspace, alice: User
) -> None:
    talk = make_conversation(alice, home)
    rows = [say(talk, f"word {n}", role=(USER, ASSISTANT)[n % 2]) for n in range(12)]
    Message.objects.filter(pk=rows[4].pk).update(private=True)
    Message.objects.filter(pk=rows[7].pk).update(content="")
    order = [row.pk for n, row in enumerate(rows) if n not in {4, 7}]
    ids = np.array([row.pk for n, row in enumerate(rows) if n in {0, 3, 5, 6, 11}], dtype=np.int64)
    asked = [row for row in rows if row.pk in ids]
    assert _around(asked).tolist() == windows(ids, [order]).tolist()


def test_only_ones_own_conversations_of_this_workspace_answer(
    home: Workspace, other_home: Workspace, alice: User, bob: User, embedder: FakeEmbedder
) -> None:
    say(make_conversation(alice, home), "Alice hid the violin")
    say(make_conversation(bob, home), "Bob hid the violin")
    say(make_conversation(alice, other_home), "elsewhere the violin")
    assert found(home, alice, "violin") == ["user: Alice hid the violin"]
    assert found(home, bob, "violin") == ["user: Bob hid the violin"]
    assert found(home, None, "violin") == []


def test_a_private_stretch_is_never_found_whatever_the_mode_becomes(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    talk = make_conversation(alice, home, mode=Conversation.Mode.INCOGNITO)
    hidden = say(talk, "the secret violin")
    conversation_set_mode(conversation=talk, mode=Conversation.Mode.PERSISTENT)
    message_update(message=hidden, content="the secret violin again")
    say(talk, "the open violin")
    assert found(home, alice, "violin") == ["user: the open violin"]


def test_the_conversation_that_asks_and_recited_memory_do_not_answer(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    earlier, now = make_conversation(alice, home), make_conversation(alice, home)
    say(earlier, "the violin needs new strings")
    answer = say(earlier, "", role=ASSISTANT)
    message_update(message=answer, content="From memory: the violin", is_searchable=False)
    say(now, "and the violin, by the way")
    assert found(home, alice, "violin", conversation_id=now.pk) == ["user: the violin needs new strings"]
    context = ToolContext(workspace=home, user=alice, conversation=now)
    assert "new strings" in memory_recall(context, "violin").text
    assert "by the way" not in memory_recall(context, "violin").text


def test_a_question_is_not_told_back_as_a_memory_into_a_conversation(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    earlier, now = make_conversation(alice, home), make_conversation(alice, home)
    say(earlier, "where is the violin")
    say(earlier, "Which shop has my violin?")
    answer = say(earlier, "", role=ASSISTANT)
    message_update(message=answer, content="Memory holds nothing about this.", is_searchable=False)
    say(earlier, "Did I say that the violin is with Marta?")
    say(earlier, "You did, last week.", role=ASSISTANT)
    told = found(home, alice, "where is the violin?", conversation_id=now.pk)
    assert told == ["user: Did I say that the violin is with Marta?"]
    # Who looks for a conversation finds it by the question.
    assert "user: where is the violin" in found(home, alice, "where is the violin?")


def test_an_edit_replaces_what_is_found_and_a_deleted_message_never_answers(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    talk = make_conversation(alice, home)
    row = say(talk, "the violin is red")
    message_update(message=row, content="the cello is red")
    assert found(home, alice, "violin") == []
    assert found(home, alice, "cello") == ["user: the cello is red"]
    Message.objects.filter(pk=row.pk).delete()
    assert found(home, alice, "cello") == []
    assert reconcile().removed == 1


def test_a_key_that_was_said_is_neither_indexed_nor_repeated(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"  # published by AWS as an example
    say(make_conversation(alice, home), f"the violin key is {key}")
    (text,) = found(home, alice, "violin")
    assert "violin" in text
    assert key not in text
    assert found(home, alice, key) == []


def test_the_index_is_made_anew_from_the_messages(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    say(make_conversation(alice, home), "the violin")
    say(make_conversation(alice, home), "noted", role=Message.Role.SYSTEM)
    assert TranscriptKind().count() == 1
    ((_, collection, text),) = TranscriptKind().documents(0, 10)
    assert (collection, text) == (f"message:{home.pk}-{alice.pk}", "user: the violin")
