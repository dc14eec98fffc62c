"""Keyword search through the ORM, which must hold on every database."""

from __future__ import annotations

import pytest

from crewsite.search.folding import fold
from crewsite.search.keyword.portable import PortableIndex
from crewsite.search.models import Document, document_id

pytestmark = pytest.mark.django_db
TEXTS = {
    1: "We deployed the parser on Monday",
    2: "ticket ZX81-QT closed",
    3: "即适者生存，生存等于正确",
    4: "a start without the word",
}


@pytest.fixture(autouse=True)
def documents() -> None:
    for number, owner in ((1, "episodic:1"), (2, "episodic:12")):
        Document.objects.bulk_create(
            Document(id=document_id(number, pk), collection=owner, object_id=pk, text=text, folded=fold(text))
            for pk, text in TEXTS.items()
        )


def found(query: str, k: int = 10) -> list[int]:
    return [hit.object_id for hit in PortableIndex().search(collection="episodic:1", query=query, k=k).hits]


def test_words_names_and_parts_are_found() -> None:
    assert found("deploys parsers") == [1]
    assert found("ZX81-QT") == [2]
    assert found("适者生存") == [3]
    assert found("生存") == [3]


def test_a_word_is_not_found_inside_another() -> None:
    assert found("art") == []


@pytest.mark.parametrize("query", ["(a", "*", "", '""', "   ", "100% [x]", "\\"])
def test_no_question_is_an_error(query: str) -> None:
    assert set(found(query)) <= set(TEXTS)


def test_all_words_come_first_and_the_number_is_kept() -> None:
    hits = PortableIndex().search(collection="episodic:1", query="ticket closed parser", k=2).hits
    assert [hit.object_id for hit in hits] == [2, 1]
    assert not hits[0].all_terms
    assert PortableIndex().search(collection="episodic:1", query="ticket closed", k=1).hits[0].all_terms
