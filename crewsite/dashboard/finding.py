"""The quick search of the home page: one question over every kind, grouped by kind, with its words marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Final

from django.urls import reverse

from crewsite.dashboard.tables import TAB_OF_LAYER
from crewsite.search.recall import Asker, RecallHit, search_all

if TYPE_CHECKING:
    from crewsite.dashboard.place import Place

HITS: Final = 24
KIND_WORDS: Final = {
    "lesson": "Lessons",
    "semantic": "Facts",
    "episodic": "Episodes",
    "message": "Conversations",
}
_MARK: Final = re.compile(r"<mark>(.*?)</mark>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_match: bool


@dataclass(frozen=True, slots=True)
class Found:
    hit: RecallHit
    link: str

    @property
    def pieces(self) -> list[Piece]:
        return pieces_of(self.hit.highlight)


@dataclass(frozen=True, slots=True)
class Answer:
    groups: dict[str, list[Found]]
    degraded: list[str]


def find(place: Place, query: str) -> Answer:
    asker = Asker(user_id=place.user.pk)
    recall = search_all(query=query, workspace=place.workspace, limit=HITS, asker=asker)
    groups: dict[str, list[Found]] = {}
    for hit in recall.hits:
        words = KIND_WORDS.get(hit.kind, hit.kind.capitalize())
        groups.setdefault(words, []).append(Found(hit, _link(hit)))
    return Answer(groups, list(recall.degraded))


def pieces_of(highlight: str) -> list[Piece]:
    """The excerpt as plain text in pieces, so that the template escapes it like any stored text."""
    pieces: list[Piece] = []
    for index, part in enumerate(_MARK.split(highlight)):
        if part:
            pieces.append(Piece(unescape(part), is_match=bool(index % 2)))
    return pieces


def _link(hit: RecallHit) -> str:
    tab = TAB_OF_LAYER.get(hit.kind)
    if tab is None:
        return reverse("dashboard:cited", args=[hit.citation])
    return reverse("dashboard:row", args=[tab, hit.object_id])
