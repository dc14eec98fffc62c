"""Layers 1 to 5 as explaining, restoring and looking back see them. Lessons answer from their own app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q, QuerySet

from crewsite.accounts.console import row_number
from crewsite.security.models import MemoryEvent
from crewsite.security.text import clean
from memory.models import (
    EpisodicMemory,
    HistoryEntry,
    PreferencesDocument,
    ProjectsDocument,
    SemanticMemory,
    VersionedDocument,
)
from memory.results import Lineage, RestoreResult, RowRef, Standing
from memory.rules import value_words

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin

Event = MemoryEvent.Event
MADE_ANEW: Final[tuple[str, ...]] = (Event.CREATE, Event.MIGRATION)
# A changed value is a new row, and its first event is the update.
MADE_BY_CHANGE: Final[tuple[str, ...]] = (*MADE_ANEW, Event.UPDATE)
# A person who brings a value back vouches for it from then on.
MADE_BY_RETURN: Final[tuple[str, ...]] = (*MADE_BY_CHANGE, Event.RESTORE)
REPLACED: Final = "replaced"


class RowLayer:
    """What the six have in common. Nothing but facts and lessons is asked for its past."""

    name: str
    prefix: str
    made_by: tuple[str, ...]

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        raise NotImplementedError

    def find(self, workspace: Workspace, name: str) -> Any:
        pk = row_number(name)
        return None if pk is None else self.rows(workspace).filter(pk=pk).first()

    def made(self) -> Q:
        return Q(event__in=self.made_by)

    def stood(self, row: Any) -> Q:
        return Q(object_id=row.pk)

    def restore(self, *, row: Any, origin: Origin, author: User | None = None) -> RestoreResult:
        from memory.services import memory_restore

        return memory_restore(row=row, origin=origin, author=author)

    def as_of(self, *, home: Workspace, moment: dt.datetime) -> list[Standing]:
        return []


class _DocumentLayer(RowLayer):
    """`doc:preferences` is the version in force, `doc:preferences:3` the third."""

    model: type[VersionedDocument]
    made_by = MADE_BY_CHANGE

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        return self.model._default_manager.filter(workspace=workspace).select_related("workspace")

    def find(self, workspace: Workspace, name: str) -> Any:
        if not name:
            return self.rows(workspace).filter(replaced_at__isnull=True).first()
        version = row_number(name)
        return None if version is None else self.rows(workspace).filter(version=version).first()

    def citation(self, row: Any) -> str:
        return self.prefix if row.replaced_at is None else f"{self.prefix}:{row.version}"

    def text(self, row: Any) -> str:
        return str(row.text)

    def lineage(self, row: Any) -> Lineage:
        versions = self.rows(row.workspace)
        before = versions.filter(version__lt=row.version).order_by("-version")[:1]
        after = versions.filter(version__gt=row.version).order_by("version")[:1]
        return Lineage(
            since=row.created_at,
            ended_at=row.replaced_at,
            ended_reason=REPLACED if row.replaced_at else "",
            replaced_by=tuple(map(self._ref, after)),
            replaces=tuple(map(self._ref, before)),
        )

    def _ref(self, row: Any) -> RowRef:
        return RowRef(self.citation(row), row.pk, self.text(row), row.created_at)


class PreferencesLayer(_DocumentLayer):
    name = "preferences"
    prefix = "doc:preferences"
    model = PreferencesDocument


class ProjectsLayer(_DocumentLayer):
    name = "projects"
    prefix = "doc:projects"
    model = ProjectsDocument


class HistoryLayer(RowLayer):
    """Append-only: an entry replaces none, and is in force until the prune removes it for good."""

    name = "history"
    prefix = "his"
    made_by = MADE_ANEW

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        return HistoryEntry.objects.filter(workspace=workspace).select_related("workspace")

    def citation(self, row: Any) -> str:
        return f"{self.prefix}:{row.pk}"

    def text(self, row: Any) -> str:
        return f"{row.day:%Y-%m-%d} {row.time:%H:%M} {row.title}\n{row.text}"

    def lineage(self, row: Any) -> Lineage:
        return Lineage(since=row.created_at)

    def restore(self, *, row: Any, origin: Origin, author: User | None = None) -> RestoreResult:
        return RestoreResult("unchanged", row, message="History is only added to; the entry is in force.")


class SemanticLayer(RowLayer):
    """`sem:pref.editor` is the fact under that key, the live one before the latest that ended; `sem:412` that
    row.
    """

    name = "semantic"
    prefix = "sem"
    made_by = MADE_BY_RETURN

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        return SemanticMemory.all_objects.filter(home=workspace.home).select_related("home")

    def find(self, workspace: Workspace, name: str) -> Any:
        pk = row_number(name)
        known_by = {"key": clean(name)} if pk is None else {"pk": pk}
        return self.rows(workspace).filter(**known_by).order_by("is_deleted", "-valid_from", "-pk").first()

    def citation(self, row: Any) -> str:
        """A fact that ended shares its key with others, so its row id names it."""
        return f"{self.prefix}:{row.pk}" if row.is_deleted else f"{self.prefix}:{row.key}"

    def text(self, row: Any) -> str:
        return f"{row.key}: {value_words(row.value)}"

    def lineage(self, row: Any) -> Lineage:
        after = SemanticMemory.all_objects.filter(pk=row.superseded_by_id)
        before = SemanticMemory.all_objects.filter(superseded_by=row).order_by("-deleted_at", "-pk")
        return lineage_of(
            row, row.valid_from, replaced_by=map(self._ref, after), replaces=map(self._ref, before)
        )

    def as_of(self, *, home: Workspace, moment: dt.datetime) -> list[Standing]:
        rows = SemanticMemory.all_objects.in_home(home).filter(stood_at(moment)).order_by("key", "pk")
        return [standing_of(self, row) for row in rows]

    def _ref(self, row: Any) -> RowRef:
        return RowRef(self.citation(row), row.pk, self.text(row), row.valid_from)


class EpisodicLayer(RowLayer):
    """Episodes stand side by side; what may replace another is linked to it, and both are told."""

    name = "episodic"
    prefix = "epi"
    made_by = MADE_ANEW

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        return EpisodicMemory.all_objects.filter(home=workspace.home).select_related("home")

    def citation(self, row: Any) -> str:
        return f"{self.prefix}:{row.pk}"

    def text(self, row: Any) -> str:
        return str(row.text)

    def lineage(self, row: Any) -> Lineage:
        after = EpisodicMemory.all_objects.filter(possibly_supersedes=row).order_by("-created_at", "-pk")
        before = EpisodicMemory.all_objects.filter(pk=row.possibly_supersedes_id)
        return lineage_of(
            row, row.created_at, replaced_by=map(self._ref, after), replaces=map(self._ref, before)
        )

    def _ref(self, row: Any) -> RowRef:
        return RowRef(self.citation(row), row.pk, self.text(row), row.created_at)


def lineage_of(
    row: Any, since: dt.datetime, *, replaced_by: Iterable[RowRef], replaces: Iterable[RowRef]
) -> Lineage:
    """Of a row that ends with its tombstone."""
    return Lineage(
        since=since,
        ended_at=row.deleted_at,
        ended_reason=row.deleted_reason,
        replaced_by=tuple(replaced_by),
        replaces=tuple(replaces),
    )


def stood_at(moment: dt.datetime) -> Q:
    """Rows that were in force then: from `valid_from` until the time of their tombstone."""
    return Q(valid_from__lte=moment) & (Q(is_deleted=False) | Q(deleted_at__gt=moment))


def standing_of(layer: Any, row: Any) -> Standing:
    return Standing(
        kind=layer.name,
        object_id=row.pk,
        citation=layer.citation(row),
        text=layer.text(row),
        source=row.source,
        since=row.valid_from,
        until=row.deleted_at,
    )
