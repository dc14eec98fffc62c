"""The list of conversations beside the chat: by the day they were last used, or what a search finds in titles
and in what was said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from django.utils import timezone

from crewsite.accounts.models import Workspace
from crewsite.conversations.indexing import KIND
from crewsite.conversations.models import Conversation, Message
from crewsite.search.highlight import first_place
from crewsite.search.recall import Asker, search_all
from crewsite.search.unmarked import unmarked
from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from django.db.models import QuerySet

    from crewsite.accounts.models import User

LIST_ROWS: Final = 60  # a page of the list; the first load stays small
SEARCH_ROWS: Final = 40
EXCERPT_CHARS: Final = 90
EXCERPT_BEFORE_CHARS: Final = 30
# Where a conversation came from, in a word that fits beside its title; the web's own go without.
SURFACE_MARKS: Final = {
    Surface.API: "API",
    Surface.CLI: "Terminal",
    Surface.MCP: "MCP",
    Surface.SLACK_DM: "Slack",
    Surface.SLACK_CHANNEL: "Slack channel",
    Surface.IMPORT: "Import",
}
DAY_GROUPS: Final = (("Today", 1), ("Yesterday", 2), ("Previous 7 days", 8), ("Previous 30 days", 31))


@dataclass(frozen=True, slots=True)
class ListItem:
    conversation: Conversation
    excerpt: str = ""

    @property
    def mark(self) -> str:
        return SURFACE_MARKS.get(Surface(self.conversation.surface), "")


@dataclass(slots=True)
class ListGroup:
    label: str
    items: list[ListItem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Listing:
    """`more` is how many rows to ask for to see older ones; 0 when there are none."""

    groups: list[ListGroup]
    more: int = 0


def surfaces_of(user: User | Any) -> list[tuple[str, str]]:
    """What a person's conversations may be narrowed to, (value, word): the surfaces they come from, if there
    are several."""
    known = set(Conversation.objects.for_user(user).order_by().values_list("surface", flat=True).distinct())
    words = {Surface.WEB: Surface.WEB.label, **SURFACE_MARKS}
    found = [(str(surface.value), word) for surface, word in words.items() if surface in known]
    return found if len(found) > 1 else []


def conversation_list(
    user: User | Any, query: str = "", *, archived: bool = False, rows: int = LIST_ROWS, surface: str = ""
) -> Listing:
    """A person's own conversations, pinned and newest first; of one surface, if named. A query finds archived
    ones too."""
    mine = Conversation.objects.for_user(user)
    if surface:
        mine = mine.filter(surface=surface)
    if query:
        return Listing(_found(user, query, mine))
    shown = mine.filter(archived_at__isnull=not archived).order_by("-pinned", "-last_activity_at", "-pk")
    found = list(shown[: rows + 1])
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    groups: dict[str, ListGroup] = {}
    for row in found[:rows]:
        label = "Pinned" if row.pinned else _day_label(today, row.last_activity_at)
        label = "Archived" if archived else label
        groups.setdefault(label, ListGroup(label)).items.append(ListItem(row))
    return Listing(list(groups.values()), more=rows + LIST_ROWS if len(found) > rows else 0)


def _day_label(today: Any, at: Any) -> str:
    for label, days in DAY_GROUPS:
        if at >= today - timedelta(days=days - 1):
            return label
    return "Older"


def _found(user: User, query: str, mine: QuerySet[Conversation]) -> list[ListGroup]:
    """What the search finds among `mine`."""
    titled = list(mine.filter(title__icontains=query).order_by("-last_activity_at")[:SEARCH_ROWS])
    excerpts = _said(user, query, mine)
    rows = {row.pk: row for row in mine.filter(pk__in=excerpts)}
    said = [ListItem(rows[pk], text) for pk, text in excerpts.items() if pk in rows]
    groups = [
        ListGroup("In titles", [ListItem(row, excerpts.get(row.pk, "")) for row in titled]),
        ListGroup("In what was said", [item for item in said if item.conversation not in titled]),
    ]
    return [group for group in groups if group.items]


def _said(user: User, query: str, mine: QuerySet[Conversation]) -> dict[UUID, str]:
    """Conversations in which the words were said, as they stand or in another form, with the place."""
    found: dict[UUID, str] = {}
    for message in [*_literally(mine, query), *_by_index(user, query, mine)]:
        if len(found) < SEARCH_ROWS:
            found.setdefault(message.conversation_id, excerpt(message.content, query))
    return found


def _literally(mine: QuerySet[Conversation], query: str) -> Iterable[Message]:
    said = Message.objects.filter(
        conversation__in=mine,
        is_current=True,
        role__in=(Message.Role.USER, Message.Role.ASSISTANT),
        content__icontains=query,
    )
    return said.only("conversation_id", "content").order_by("-pk")[: SEARCH_ROWS * 4]


def _by_index(user: User, query: str, mine: QuerySet[Conversation]) -> Iterator[Message]:
    """What the search of transcripts finds by its words; nearness alone would find something for anything."""
    for workspace in Workspace.objects.for_user(user).filter(pk__in=mine.order_by().values("workspace")):
        found = search_all(
            query=query, workspace=workspace, kinds=(KIND,), limit=SEARCH_ROWS, asker=Asker(user.pk)
        )
        ids = [hit.object_id for hit in found.hits if "keyword" in hit.legs]
        rows = Message.objects.only("conversation_id", "content").in_bulk(ids)
        yield from (rows[pk] for pk in ids if pk in rows)


def excerpt(text: str, query: str) -> str:
    """A line of the text around the query as it stands in it, or the first word of it in any form."""
    line = " ".join(unmarked(text).split())
    literally = re.search(re.escape(query), line, re.IGNORECASE)
    at = literally.start() if literally else first_place(line, query) or 0
    start = max(0, at - EXCERPT_BEFORE_CHARS)
    piece = line[start : start + EXCERPT_CHARS]
    return f"{'…' if start else ''}{piece}{'…' if start + EXCERPT_CHARS < len(line) else ''}"
