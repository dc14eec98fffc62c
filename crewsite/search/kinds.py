"""What a searchable kind of object offers. Kinds live in the apps that own the rows and are named in
SEARCH_KINDS.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.search.constants import RECONCILE_BATCH


@dataclass(frozen=True, slots=True)
class RecallHit:
    """One answer of the search over everything. `citation` names it to people and models, for example
    `epi:412`.

    `highlight` is HTML: an escaped excerpt with the matching words in `<mark>`.
    """

    kind: str
    object_id: int
    citation: str
    text: str
    at: dt.datetime | None
    score: float
    legs: tuple[str, ...] = ()
    highlight: str = ""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, for kinds that belong to one person; and in which conversation, whose words are no answer."""

    user_id: int
    conversation_id: UUID | None = None


class Reader(Protocol):
    """A workspace that asks: its own rows are its `pk`'s, those it shares its `home`'s."""

    @property
    def pk(self) -> int: ...

    @property
    def home(self) -> Any: ...


class SearchKind(Protocol):
    """`name` is the first part of the kind's collections; `prefix` of its citations."""

    name: str
    prefix: str

    def documents(self, after_id: int, limit: int) -> Sequence[tuple[int, str, str]]:
        """(object id, collection, text) of live rows with a higher id, in id order."""
        ...

    def count(self) -> int:
        """Live rows of all owners."""
        ...

    def recall(
        self, *, query: str, workspace: Reader, limit: int, asker: Asker | None = None
    ) -> Sequence[RecallHit]:
        """Best first, only what this workspace reads. Without an asker only what all its members may see."""
        ...


def search_kinds() -> list[SearchKind]:
    return [import_string(path)() for path in settings.SEARCH_KINDS]


def live_documents(kind: SearchKind) -> Iterator[tuple[int, str, str]]:
    """All of a kind's documents, page by page."""
    after_id = 0
    while page := kind.documents(after_id, RECONCILE_BATCH):
        yield from page
        after_id = page[-1][0]
