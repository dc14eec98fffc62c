"""Facts, episodes, lessons and earlier conversations are found by words however they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.chat.listing import excerpt
from crewsite.conversations.models import Message
from crewsite.conversations.services import message_append
from crewsite.search.recall import Asker, search_all
from lessons.services import lesson_write
from memory.selectors import episodic_search, semantic_search
from memory.services import episodic_write, semantic_write
from memory.words import share_found, stems
from tests.factories import EXPLICIT, make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db
WORDS = [
    ("Die Straße nach Köln", "strasse"),
    ("Der Fußboden ist weiß", "weiß"),
    ("会議室ＡＢＣの鍵は受付", "ABC"),
    ("我们使用Python开发后端服务", "python"),
    ("版本3.2.1已经发布了", "3.2.1"),
    ("The oﬃce door code", "office"),
    ("ＷＸＹ９９", "WXY99"),
]


@pytest.mark.parametrize(("text", "query"), WORDS)
def test_every_kind_finds_it_without_an_embedder(text: str, query: str, home: Workspace, alice: User) -> None:
    semantic_write(home=home, key="project.note", value=text, origin=EXPLICIT)
    semantic_write(home=home, key="project.other", value="something else", origin=EXPLICIT)
    episodic_write(home=home, text=f"{text}。 noted", origin=EXPLICIT)
    lesson_write(home=home, rule=f"always mention {text}", origin=EXPLICIT)
    long = "filler words here. " * 500 + text + " more filler." * 500
    message_append(conversation=make_conversation(alice, home), role=Message.Role.USER, content=long)
    found = search_all(query=query, workspace=home, asker=Asker(alice.pk)).hits
    assert {hit.kind for hit in found} == {"semantic", "episodic", "lesson", "message"}
    assert all("<mark>" in hit.highlight for hit in found)
    assert "filler" in excerpt(long, query)
    assert any(part in excerpt(long, query) for part in (text[:4], text[-4:]))


def test_a_fact_with_a_glued_word_is_not_lost_beside_one_with_the_word_alone(home: Workspace) -> None:
    semantic_write(home=home, key="project.backend", value="我们使用Python开发", origin=EXPLICIT)
    semantic_write(home=home, key="project.scripts", value="python too", origin=EXPLICIT)
    hits = semantic_search(home=home, query="python").hits
    assert {hit.row.key for hit in hits} == {"project.backend", "project.scripts"}


def test_a_german_question_finds_the_fact_written_the_other_way(home: Workspace) -> None:
    semantic_write(home=home, key="user.address", value="Lange Strasse 5", origin=EXPLICIT)
    semantic_write(home=home, key="user.city", value="Koeln ist die Stadt", origin=EXPLICIT)
    hits = semantic_search(home=home, query="Wo ist die lange Straße?").hits
    assert hits[0].row.key == "user.address"


def test_a_prompt_gets_an_episode_by_its_words(home: Workspace) -> None:
    row = episodic_write(home=home, text="会議室ＡＢＣの鍵は受付にある", origin=EXPLICIT).row
    found = episodic_search(home=home, query="会議室ABC", relevance_filter=True)
    assert [hit.row for hit in found.hits] == [row]


def test_words_are_counted_in_the_form_the_index_has() -> None:
    assert stems("Straße", language="german") == stems("strasse", language="german")
    assert share_found("python", "我们使用Python开发后端服务") == 1.0
