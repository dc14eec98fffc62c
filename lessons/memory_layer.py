"""Lessons as explaining, restoring and looking back see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from lessons.services import lesson_restore
from lessons.services.index import KIND
from lessons.services.record import EDITED
from memory.own_layers import MADE_ANEW, RowLayer, lineage_of, standing_of, stood_at
from memory.results import Lineage, RestoreResult, RowRef, Standing
from memory.services.restore import IN_FORCE

if TYPE_CHECKING:
    import datetime as dt

    from django.db.models import QuerySet

    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin


class LessonLayer(RowLayer):
    name = KIND
    prefix = "les"
    made_by = MADE_ANEW

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        return Lesson.all_objects.filter(home=workspace.home).select_related("home")

    def citation(self, row: Any) -> str:
        return str(row.citation)

    def text(self, row: Any) -> str:
        return str(row.rendered)

    def lineage(self, row: Any) -> Lineage:
        after = Lesson.all_objects.filter(pk=row.superseded_by_id)
        before = Lesson.all_objects.filter(superseded_by=row).order_by("-deleted_at", "-pk")
        return lineage_of(
            row, row.valid_from, replaced_by=map(self._ref, after), replaces=map(self._ref, before)
        )

    def made(self) -> Q:
        return super().made() | Q(event=MemoryEvent.Event.UPDATE, reason=EDITED)

    def stood(self, row: Any) -> Q:
        """An edited lesson keeps its id, and its earlier wordings are tombstones of it, known by its time of
        birth. Each had the id from the edit before it until its own end.
        """
        born = Lesson.all_objects.filter(home=row.home_id, created_at=row.created_at)
        worded_so = born.filter(key=row.key, negative=row.negative)
        edited = worded_so.filter(superseded_by__created_at=row.created_at)
        stood = Q()
        for object_id in {row.pk, *edited.values_list("superseded_by", flat=True)}:
            since = None
            for past in born.filter(superseded_by=object_id).order_by("deleted_at"):
                if (past.key, past.negative) == (row.key, row.negative):
                    stood |= _held(object_id, since, past.deleted_at)
                since = past.deleted_at
            if object_id == row.pk:
                stood |= _held(object_id, since, None)
        return stood

    def restore(self, *, row: Any, origin: Origin, author: User | None = None) -> RestoreResult:
        result = lesson_restore(row=row, origin=origin)
        if result.outcome == "unchanged":
            return RestoreResult("unchanged", result.row, message=IN_FORCE)
        if result.outcome == "refused":
            return RestoreResult("refused", result.row, result.code, result.message)
        return RestoreResult("restored", result.row, message=result.message)

    def as_of(self, *, home: Workspace, moment: dt.datetime) -> list[Standing]:
        rows = Lesson.all_objects.in_home(home).filter(stood_at(moment)).order_by("valid_from", "pk")
        return [standing_of(self, row) for row in rows]

    def _ref(self, row: Any) -> RowRef:
        return RowRef(self.citation(row), row.pk, self.text(row), row.valid_from)


def _held(object_id: int, since: dt.datetime | None, until: dt.datetime | None) -> Q:
    held = Q(object_id=object_id)
    held &= Q(at__gte=since) if since else Q()
    return held & Q(at__lt=until) if until else held
