"""What services and selectors of layers 1 to 5 answer: frozen values.
A refusal is an answer, never an exception.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

if TYPE_CHECKING:
    from memory.models import EpisodicMemory, HistoryEntry, SemanticMemory, VersionedDocument


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something was not done: `code` for programs, `message` for people, naming the rule."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SemanticResult:
    """`row` is the live row under the key after the call;
    None only when the write was refused before one was looked up.
    """

    outcome: Literal["created", "updated", "unchanged", "refused"]
    row: SemanticMemory | None = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class EpisodicResult:
    """`row` is the new row, or the existing one when `deduped`.
    `possibly_supersedes` is the id of the older episode.
    """

    outcome: Literal["stored", "deduped", "refused"]
    row: EpisodicMemory | None = None
    code: str = ""
    message: str = ""
    dropped_tags: tuple[str, ...] = ()
    possibly_supersedes: int | None = None


@dataclass(frozen=True, slots=True)
class EpisodicEdit:
    outcome: Literal["updated", "unchanged", "refused"]
    row: EpisodicMemory
    code: str = ""
    message: str = ""
    dropped_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """`row` is the version in force after the call; None when there is none."""

    outcome: Literal["replaced", "unchanged", "refused"]
    row: VersionedDocument | None = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class HistoryResult:
    outcome: Literal["stored", "refused"]
    row: HistoryEntry | None = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """`row` is the row that is live now; None when nothing was restored."""

    outcome: Literal["restored", "unchanged", "refused"]
    row: Any = None
    code: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row named in the explanation of another. `at`: since when it stands, or stood."""

    citation: str
    object_id: int
    text: str
    at: dt.datetime


@dataclass(frozen=True, slots=True)
class Lineage:
    """Whether a row is in force, and what stands before and after it. `ended_at` None: it is in force."""

    since: dt.datetime
    ended_at: dt.datetime | None = None
    ended_reason: str = ""
    replaced_by: tuple[RowRef, ...] = ()
    replaces: tuple[RowRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A row that was in force at a moment; `until` None: it still is."""

    kind: str
    object_id: int
    citation: str
    text: str
    source: str
    since: dt.datetime
    until: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class Injected:
    """One time that a row was put into a prompt."""

    at: dt.datetime
    conversation_id: UUID
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class ReviewOutcome:
    """What deciding an item of the review queue did. Not `ok`: the item stays as it was, `message` says why.

    `repeated`: it was decided before, and nothing was changed now. `row_id`: the row that accepting wrote, or
    tombstoned where it only does that, for a reopening to take back; None when it changed none.
    """

    ok: bool
    message: str = ""
    repeated: bool = False
    row_id: int | None = None


@dataclass(frozen=True, slots=True)
class EpisodicHit:
    """`score` orders within one answer only. `cosine` is raw; `keyword` is scaled 0..1 within the candidates.

    `legs`: any of `vector`, `keyword`, `guard` (kept by the recall guard in spite of its age), `newer` (not
    found itself: it may replace a row that was).
    """

    row: EpisodicMemory
    score: float
    cosine: float | None
    keyword: float | None
    legs: tuple[str, ...]

    @property
    def citation(self) -> str:
        return f"epi:{self.row.pk}"


@dataclass(frozen=True, slots=True)
class EpisodicSearch:
    """`rung` is the step of the ladder that answered (`faiss`, `numpy`, `keyword`);
    `degraded` says why not a higher one.
    """

    hits: tuple[EpisodicHit, ...]
    rung: str = ""
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SemanticHit:
    row: SemanticMemory
    score: float
    cosine: float | None
    keyword: float | None
    legs: tuple[str, ...]

    @property
    def citation(self) -> str:
        return f"sem:{self.row.key}"


@dataclass(frozen=True, slots=True)
class SemanticSearch:
    hits: tuple[SemanticHit, ...]
    rung: str = ""
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryText:
    """History as a prompt shows it. `days_dropped` oldest days did not fit the cap; where the newest alone
    did not, less of it is shown."""

    text: str
    days_dropped: int = 0
    is_newest_shortened: bool = False


@dataclass(frozen=True, slots=True)
class LayerCount:
    live: int
    deleted: int
    newest: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryStats:
    """Rows by layer, and how full the one layer with a row cap is."""

    layers: dict[str, LayerCount]
    episodic_cap: int
    open_reviews: int
