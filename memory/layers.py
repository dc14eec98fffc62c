"""What explaining, restoring and looking back need to know of each layer, and where each is found. Layers are
named in MEMORY_LAYERS, because lessons stand above this app; how one answers is its own module's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from django.db.models import Q, QuerySet

    from crewsite.accounts.models import User, Workspace
    from crewsite.security.origin import Origin
    from memory.results import Lineage, RestoreResult, Standing


class MemoryLayer(Protocol):
    """`name` is what events and injections call the layer; `prefix` is the first part of its citations."""

    name: str
    prefix: str

    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        """What this workspace reads of the layer, tombstones and old versions included."""
        ...

    def find(self, workspace: Workspace, name: str) -> Any:
        """The row that the rest of a citation names: a row id, or what else the layer's rows are known by."""
        ...

    def citation(self, row: Any) -> str:
        """Names this very row, whether it is in force or not."""
        ...

    def text(self, row: Any) -> str: ...

    def lineage(self, row: Any) -> Lineage: ...

    def made(self) -> Q:
        """The events that make a row of it what it is; the last one names its door."""
        ...

    def stood(self, row: Any) -> Q:
        """The events and injections of this very row: `object_id`, and `at` where another wording had it."""
        ...

    def restore(self, *, row: Any, origin: Origin, author: User | None = None) -> RestoreResult: ...

    def as_of(self, *, home: Workspace, moment: dt.datetime) -> Sequence[Standing]:
        """What was in force then; nothing from a layer that is not asked for its past."""
        ...


def memory_layers() -> list[MemoryLayer]:
    return [import_string(path)() for path in settings.MEMORY_LAYERS]


def layer_of(name: str) -> MemoryLayer | None:
    return next((layer for layer in memory_layers() if layer.name == name), None)


def row_cited(workspace: Workspace, citation: str) -> tuple[MemoryLayer, Any] | None:
    """The row that a citation names (`epi:412`, `sem:pref.editor`, `doc:preferences`), tombstones too.

    Another home's rows do not exist here.
    """
    for layer in memory_layers():
        if citation == layer.prefix or citation.startswith(f"{layer.prefix}:"):
            row = layer.find(workspace, citation[len(layer.prefix) + 1 :])
            return None if row is None else (layer, row)
    return None
