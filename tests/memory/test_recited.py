"""What was deleted from memory is not told again by the answer that recited it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crewsite.chat.commands import context_in, run_command
from crewsite.chat.listing import conversation_list
from crewsite.chat.services import Injection, turn_begin, turn_finish, turn_record_packet, turn_start
from crewsite.search.recall import Asker, search_all
from crewsite.search.words import word_set
from lessons.services import lesson_undo, lesson_write
from memory.recited import is_told, telling_words
from memory.services import episodic_delete, episodic_write, memory_restore, semantic_delete, semantic_write
from tests.factories import EXPLICIT, make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Conversation
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


def talk(conversation: Conversation, text: str, answer: str, *given: Any, calls: Any = ()) -> None:
    """A turn of a model whose prompt held these rows."""
    turn, _ = turn_start(conversation=conversation, user=conversation.owner, text=text, client_key=text)
    turn_begin(turn_id=turn.pk)
    kinds = {"EpisodicMemory": "episodic", "SemanticMemory": "semantic", "Lesson": "lesson"}
    injections = [Injection(kinds[type(row).__name__], row.pk, None) for row in given]
    turn_record_packet(turn_id=turn.pk, packet={}, injections=injections, model="a-model")
    turn_finish(turn_id=turn.pk, text=answer, tool_calls=calls)


def told(home: Workspace, who: User, query: str) -> str:
    hits = search_all(query=query, workspace=home, asker=Asker(who.pk)).hits
    new = make_conversation(who, home)
    recalled = run_command(context_in(new, who), f"/recall {query}").text
    return "\n".join([*(hit.text for hit in hits), recalled])


def test_a_deleted_row_is_not_told_by_the_answer_that_recited_it(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    episode = episodic_write(home=home, text="The vault code word is MARIGOLD", origin=EXPLICIT).row
    fact = semantic_write(home=home, key="project.vault.colour", value="VERMILION", origin=EXPLICIT).row
    lesson = lesson_write(
        home=home, rule="always greet the vault keeper with HELIOTROPE", origin=EXPLICIT
    ).row
    earlier = make_conversation(alice, home)
    talk(earlier, "what is the code word?", "It is MARIGOLD.", episode, fact, lesson)
    talk(earlier, "which colour has it?", "The vault is VERMILION.", episode, fact, lesson)
    talk(earlier, "how do I greet him?", "Greet the keeper with HELIOTROPE.", episode, fact, lesson)
    assert all(word in told(home, alice, word) for word in ("MARIGOLD", "VERMILION", "HELIOTROPE"))
    episodic_delete(row=episode, origin=EXPLICIT)
    semantic_delete(row=fact, origin=EXPLICIT)
    lesson_undo(row=lesson, origin=EXPLICIT)
    for word in ("MARIGOLD", "VERMILION", "HELIOTROPE"):
        assert word not in told(home, alice, word.lower())
    # The conversation is the person's own, and the search in its words finds it.
    (group,) = conversation_list(alice, query="MARIGOLD").groups
    assert [item.conversation for item in group.items] == [earlier]
    memory_restore(row=episode, origin=EXPLICIT, author=alice)
    assert "MARIGOLD" in told(home, alice, "marigold")


def test_own_words_and_other_answers_of_the_conversation_are_still_found(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    episode = episodic_write(home=home, text="The vault code word is MARIGOLD", origin=EXPLICIT).row
    earlier = make_conversation(alice, home)
    talk(earlier, "remember that MARIGOLD grows in the garden", "Marigold: noted.", episode)
    talk(earlier, "who repairs the boiler?", "Jonas repairs the boiler on Friday.", episode)
    episodic_delete(row=episode, origin=EXPLICIT)
    assert "grows in the garden" in told(home, alice, "marigold")
    assert "Jonas repairs" in told(home, alice, "boiler")


def test_what_a_tool_found_or_stored_and_was_deleted_is_not_told(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    found = episodic_write(home=home, text="The vault code word is MARIGOLD", origin=EXPLICIT).row
    kept = episodic_write(home=home, text="The cellar door opens with CERULEAN", origin=EXPLICIT).row
    assert found is not None
    assert kept is not None
    earlier = make_conversation(alice, home)
    recall = {"id": "1", "state": "done", "data": {"hits": [{"kind": "episodic", "id": found.pk}]}}
    stored = {"id": "2", "state": "done", "data": {"kind": "episodic", "id": kept.pk, "outcome": "stored"}}
    talk(earlier, "what was it?", "MARIGOLD, of course.", calls=[recall])
    talk(earlier, "and the other one?", "CERULEAN for the cellar.", calls=[stored])
    for row in (found, kept):
        episodic_delete(row=row, origin=EXPLICIT)
    assert "MARIGOLD" not in told(home, alice, "marigold")
    assert "CERULEAN" not in told(home, alice, "cerulean")


def test_a_row_that_gave_way_by_itself_hides_no_answer(
    home: Workspace, alice: User, embedder: FakeEmbedder
) -> None:
    old = semantic_write(home=home, key="pref.editor", value="helix", origin=EXPLICIT).row
    talk(make_conversation(alice, home), "which one do I use?", "You use helix.", old)
    semantic_write(home=home, key="pref.editor", value="zed", origin=EXPLICIT)
    assert "You use helix" in told(home, alice, "helix")


def test_the_look_takes_the_same_statements_for_many_answers(
    home: Workspace, alice: User, embedder: FakeEmbedder, django_assert_max_num_queries: Any
) -> None:
    row = episodic_write(home=home, text="The vault code word is MARIGOLD", origin=EXPLICIT).row
    for number in range(12):
        talk(make_conversation(alice, home), f"question {number} about it", f"marigold {number}", row)
    episodic_delete(row=row, origin=EXPLICIT)
    with django_assert_max_num_queries(16):
        hits = search_all(query="marigold", workspace=home, kinds=["message"], asker=Asker(alice.pk)).hits
    assert hits == ()


@pytest.mark.parametrize(
    ("row", "asked", "answer", "is_recited"),
    [
        ("The code word is MARIGOLD", "what is the code word?", "marigold", True),
        ("project.api.language: python", "tell me", "It is Python.", True),
        ("保険庫の合言葉は金盞花です", "合言葉は？", "金盞花です", True),
        ("use tabs", "how long?", "Use two hours.", False),
        ("The door opens at nine", "when does the door open?", "Ask Marta.", False),
    ],
)
def test_an_answer_recites_by_the_words_a_row_is_known_by(
    row: str, asked: str, answer: str, is_recited: bool
) -> None:
    words = telling_words(row) - word_set(asked)
    assert is_told(words, word_set(answer), query=frozenset()) is is_recited


def test_one_word_is_enough_where_the_search_asks_for_it() -> None:
    words = telling_words("The third door of the northern cellar opens with the word CERULEAN")
    said = frozenset({"cerulean", "of", "course"})
    assert not is_told(words, said, query=frozenset({"secret"}))
    assert is_told(words, said, query=frozenset({"cerulean"}))
