"""The six layers as tables: which rows a tab lists, and how one row reads. Changing them is `edits`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from crewsite.conversations.rendering import render_markdown
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source, Surface
from crewsite.security.text import clean, times
from lessons.models import Lesson
from memory.layers import layer_of
from memory.models import (
    EpisodicMemory,
    HistoryEntry,
    PreferencesDocument,
    ProjectsDocument,
    SemanticMemory,
    VersionedDocument,
)
from memory.rules import value_words

if TYPE_CHECKING:
    from django.http import QueryDict
    from django.utils.safestring import SafeString

    from crewsite.dashboard.place import Place

ROWS_A_PAGE: Final = 25
QUERY_MAX_CHARS: Final = 200
STATES: Final = (("", "In use"), ("deleted", "Deleted"), ("all", "All"))
SOURCES: Final = (("", "Any source"), *((s.value, s.label) for s in Source))
NEWEST: Final = (("", "Newest first"), ("oldest", "Oldest first"))


@dataclass(frozen=True, slots=True)
class Line:
    """One row of any table, in the words of the page. `head` is a key or a title, where the layer has one."""

    tab: str
    row: Any
    text: str
    head: str = ""
    note: str = ""
    is_markdown: bool = False
    tags: tuple[str, ...] = ()
    state: str = ""
    can_edit: bool = False
    can_delete: bool = False
    can_restore: bool = False

    @property
    def html(self) -> SafeString:
        return render_markdown(self.text)


@dataclass(frozen=True, slots=True)
class Filter:
    name: str
    label: str
    value: str
    options: tuple[tuple[str, str], ...] = ()


class Table:
    """What the tabs have in common. A value that a filter does not know filters nothing."""

    tab: ClassVar[str]
    title: ClassVar[str]
    layer: ClassVar[str]
    about: ClassVar[str]
    empty: ClassVar[str]
    choices: ClassVar[dict[str, tuple[str, tuple[tuple[str, str], ...]]]] = {}
    can_add: ClassVar[bool] = False

    def base(self, place: Place) -> QuerySet[Any]:
        """Everything of the layer that the workspace reads, tombstones and old versions too."""
        raise NotImplementedError

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        raise NotImplementedError

    def line(self, place: Place, row: Any) -> Line:
        raise NotImplementedError

    def order(self, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
        return rows.order_by("created_at", "pk") if name == "oldest" else rows.order_by("-created_at", "-pk")

    def rows(self, place: Place, asked: QueryDict) -> QuerySet[Any]:
        rows = self.narrowed(self.base(place), {name: self.asked(asked, name) for name in self.choices})
        query = query_of(asked)
        rows = self.search(rows, query) if query else rows
        return self.order(rows, asked.get("order", ""))

    def narrowed(self, rows: QuerySet[Any], chosen: dict[str, str]) -> QuerySet[Any]:
        state = chosen.get("state", "")
        if "state" in self.choices and state != "all":
            rows = rows.filter(is_deleted=state == "deleted")
        if chosen.get("source"):
            rows = rows.filter(source=chosen["source"])
        return rows

    def asked(self, asked: QueryDict, name: str) -> str:
        value = asked.get(name, "")
        return value if value in dict(self.choices[name][1]) else ""

    def filters(self, asked: QueryDict) -> list[Filter]:
        return [
            Filter(name, label, self.asked(asked, name), options)
            for name, (label, options) in self.choices.items()
        ]


def query_of(asked: QueryDict) -> str:
    return clean(asked.get("q", "")).strip()[:QUERY_MAX_CHARS]


def value_text(value: Any) -> str:
    """A fact's value as its form takes it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Undoable(Table):
    """Layers whose rows are tombstoned and come back."""

    model: ClassVar[type[SemanticMemory | EpisodicMemory | Lesson]]

    def base(self, place: Place) -> QuerySet[Any]:
        """With whether a row was made at the command line, where nobody is signed in."""
        layer = layer_of(self.layer)
        made = MemoryEvent.objects.filter(layer.made() if layer else Q(), memory_type=self.layer)
        made_at_console = made.filter(object_id=OuterRef("pk"), surface=Surface.CLI)
        rows = self.model.all_objects.in_home(place.home).select_related("home", "author", "conversation")
        return rows.annotate(is_of_console=Exists(made_at_console))

    def line(self, place: Place, row: Any) -> Line:
        parts = self.parts(row)
        if row.author_id is None and getattr(row, "is_of_console", False):
            parts["tags"] = (*parts.get("tags", ()), "by the operator, on the command line")
        may = place.may_write
        return Line(
            tab=self.tab,
            row=row,
            state=(row.deleted_reason or "deleted") if row.is_deleted else "",
            can_edit=may and not row.is_deleted,
            can_delete=not row.is_deleted and place.may_delete(row),
            can_restore=may and row.is_deleted,
            **parts,
        )

    def parts(self, row: Any) -> dict[str, Any]:
        raise NotImplementedError


class FactTable(_Undoable):
    tab = "facts"
    title = "Facts"
    layer = "semantic"
    model = SemanticMemory
    about = "Values under a key. A changed value keeps the one before it."
    empty = "Facts are values under a key, such as an editor or the name of a server."
    can_add = True
    choices = {
        "state": ("State", STATES),
        "source": ("Source", SOURCES),
        "order": ("Order", (("", "By key"), ("newest", "Newest first"), ("oldest", "Oldest first"))),
    }

    def narrowed(self, rows: QuerySet[Any], chosen: dict[str, str]) -> QuerySet[Any]:
        rows = super().narrowed(rows, chosen)
        return rows.restorable()  # type: ignore[attr-defined, no-any-return]

    def rows(self, place: Place, asked: QueryDict) -> QuerySet[Any]:
        rows = super().rows(place, asked)
        prefix = prefix_of(asked)
        return rows.filter(Q(key=prefix) | Q(key__startswith=f"{prefix}.")) if prefix else rows

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        # SQLite keeps JSON with escapes, PostgreSQL without: the words are looked for in both spellings.
        escaped = json.dumps(query)[1:-1]
        return rows.filter(Q(key__icontains=query) | Q(value__icontains=query) | Q(value__icontains=escaped))

    def order(self, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
        return super().order(rows, name) if name else rows.order_by("key", "-valid_from", "-pk")

    def parts(self, row: Any) -> dict[str, Any]:
        sure = (f"confidence {row.confidence:.2f}",) if row.confidence < 1 else ()
        return {"head": row.key, "text": value_words(row.value), "tags": sure}


def prefix_of(asked: QueryDict) -> str:
    return clean(asked.get("prefix", "")).strip(" .")[:100]


class EpisodeTable(_Undoable):
    tab = "episodes"
    title = "Episodes"
    layer = "episodic"
    model = EpisodicMemory
    about = "Short notes about what happened, found again by meaning."
    empty = "Episodes are short notes about what happened."
    can_add = True
    choices = {"state": ("State", STATES), "source": ("Source", SOURCES), "order": ("Order", NEWEST)}

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        return rows.filter(Q(text__icontains=query) | Q(tags__icontains=query))

    def parts(self, row: Any) -> dict[str, Any]:
        return {"text": row.text, "tags": (f"importance {row.importance:.1f}", *(f"#{t}" for t in row.tags))}


class LessonTable(_Undoable):
    tab = "lessons"
    title = "Lessons"
    layer = "lesson"
    model = Lesson
    about = "Rules that people taught. They stand first in every prompt and override what else is known."
    empty = "Teach one on the home page, or say “remember to always …” in a chat."
    can_add = True
    choices = {
        "state": ("State", STATES),
        "category": ("Category", (("", "Any category"), *Lesson.Category.choices)),
        "source": ("Source", SOURCES),
        "order": ("Order", (("", "By rank"), *NEWEST[1:], ("newest", "Newest first"))),
    }

    def narrowed(self, rows: QuerySet[Any], chosen: dict[str, str]) -> QuerySet[Any]:
        rows = super().narrowed(rows, chosen).restorable()  # type: ignore[attr-defined]
        return rows.filter(category=chosen["category"]) if chosen["category"] else rows

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        return rows.filter(
            Q(rule__icontains=query) | Q(negative__icontains=query) | Q(scope__icontains=query)
        )

    def order(self, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
        return super().order(rows, name) if name else rows.by_rank()  # type: ignore[attr-defined]

    def parts(self, row: Any) -> dict[str, Any]:
        tags = [row.get_category_display()]
        tags += ["pinned"] if row.pinned else []
        tags += [f"only in {row.scope}"] if row.scope else []
        tags += [f"applied {times(row.times_applied)}"] if row.times_applied else []
        note = f"Not: {row.negative}" if row.negative else ""
        return {"text": row.rule, "note": note, "tags": tuple(tags)}


class HistoryTable(Table):
    tab = "history"
    title = "History"
    layer = "history"
    about = "What was done on which day. It is only added to, and fades with age."
    empty = "History is written when a conversation rests."
    choices = {"order": ("Order", NEWEST)}

    def base(self, place: Place) -> QuerySet[Any]:
        return HistoryEntry.objects.filter(workspace=place.workspace).select_related("workspace")

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        return rows.filter(Q(title__icontains=query) | Q(text__icontains=query))

    def order(self, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
        sign = "" if name == "oldest" else "-"
        return rows.order_by(f"{sign}day", f"{sign}time", f"{sign}pk")

    def line(self, place: Place, row: Any) -> Line:
        return Line(
            tab=self.tab, row=row, head=row.title, text=row.text, tags=(f"{row.day} {row.time:%H:%M}",)
        )


class _DocumentTable(Table):
    """The version in force comes first; the others stand below it and come back with one click."""

    model: ClassVar[type[VersionedDocument]]
    choices = {"source": ("Source", SOURCES)}

    def base(self, place: Place) -> QuerySet[Any]:
        rows = self.model._default_manager.filter(workspace=place.workspace)
        return rows.select_related("workspace", "author")

    def search(self, rows: QuerySet[Any], query: str) -> QuerySet[Any]:
        return rows.filter(text__icontains=query)

    def order(self, rows: QuerySet[Any], name: str) -> QuerySet[Any]:
        return rows.order_by("-version")

    def line(self, place: Place, row: Any) -> Line:
        return Line(
            tab=self.tab,
            row=row,
            head=f"Version {row.version}",
            text=row.text,
            # Old versions stand below as a few lines of what they said.
            is_markdown=row.replaced_at is None,
            state="replaced" if row.replaced_at else "",
            can_edit=place.may_write and row.replaced_at is None,
            can_restore=place.may_write and row.replaced_at is not None,
        )


class PreferencesTable(_DocumentTable):
    tab = layer = "preferences"
    title = "Preferences"
    about = "Habits, tools and tone: one document that every conversation starts with."
    empty = "Preferences are written after 30 messages, or by you."
    model = PreferencesDocument
    can_add = True


class ProjectsTable(_DocumentTable):
    tab = layer = "projects"
    title = "Projects"
    about = "What is being worked on: one document that every conversation starts with."
    empty = "Projects are written after 30 messages, or by you."
    model = ProjectsDocument
    can_add = True


TABLES: Final[dict[str, Table]] = {
    table.tab: table
    for table in (
        PreferencesTable(),
        ProjectsTable(),
        HistoryTable(),
        FactTable(),
        EpisodeTable(),
        LessonTable(),
    )
}
TAB_OF_LAYER: Final[dict[str, str]] = {table.layer: tab for tab, table in TABLES.items()}
