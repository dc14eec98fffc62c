"""Layer 4 in a prompt: facts, what people stated before what was learned, chosen by the first message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.db import connection

from crewsite.security.origin import Source
from memory.context.constants import (
    AUTHORITY_SEMANTIC,
    LEFT_OUT_NAMED,
    MARKER_SEMANTIC,
    SEMANTIC_MIN_LINE_CHARS,
    SEMANTIC_RELEVANT_ROWS,
)
from memory.context.lines import Line, fit_lines, name_left_out
from memory.context.packet import Block, BlockState, SourceRef
from memory.context.stored import stored_line
from memory.models import SemanticMemory
from memory.selectors import semantic_search

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crewsite.accounts.models import Workspace
    from memory.context.request import ContextRequest

_STATED = "Facts people stated:"
_LEARNED = "Facts learned automatically:"
# In two halves, because each is read in the order of an index and stops; one that sorts reads every row.
_HALF = (
    "SELECT * FROM (SELECT id, key, value, source FROM memory_semanticmemory WHERE home_id = %s"
    " AND NOT is_deleted AND source {} %s ORDER BY updated_at DESC, id DESC LIMIT %s) AS facts"
)
_OTHERS = f"{_HALF.format('=')} UNION ALL {_HALF.format('<>')}"
_ROWS_PER_FETCH = 100


@dataclass(frozen=True, slots=True)
class _Fact:
    """The columns a prompt needs; whole rows would cost more to build than the rest of the packet."""

    pk: int
    key: str
    value: Any
    source: str
    score: float | None = None

    @property
    def is_stated(self) -> bool:
        return self.source == Source.USER_EXPLICIT


class SemanticSource:
    """Which facts fit is decided by relevance, then by authority and age; how they stand by authority."""

    name: ClassVar[str] = "semantic"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens:
            return []
        cap = request.caps.sections.semantic
        total = SemanticMemory.objects.in_home(request.home).count()
        relevant, degraded = _relevant(request)
        headings = sum(len(text) + 1 for text in (MARKER_SEMANTIC, _STATED, _LEARNED))
        facts: list[_Fact] = []
        fitted = fit_lines(
            map(_line, _noted(_facts(request.home, relevant, limit=cap // SEMANTIC_MIN_LINE_CHARS), facts)),
            room=cap - headings,
        )
        if not facts:
            return []
        stated = {fact.pk for fact in facts if fact.is_stated}
        first = [line for line in fitted.kept if line.source.object_id in stated]
        second = [line for line in fitted.kept if line.source.object_id not in stated]
        shown = {line.source.object_id for line in fitted.kept}
        left_out = total - len(shown)
        names = tuple(_source(fact) for fact in facts if fact.pk not in shown)[:LEFT_OUT_NAMED]
        return [
            Block(
                name=self.name,
                marker=MARKER_SEMANTIC,
                authority=AUTHORITY_SEMANTIC,
                text="\n".join([MARKER_SEMANTIC, *_section(_STATED, first), *_section(_LEARNED, second)]),
                cap=cap,
                sources=tuple(line.source for line in (*first, *second)),
                state=BlockState.TRIMMED if left_out else BlockState.ADMITTED,
                reason=name_left_out(names, left_out, word="facts", total=total),
                left_out=names,
                left_out_count=left_out,
                degraded=degraded,
            )
        ]


def _relevant(request: ContextRequest) -> tuple[list[_Fact], tuple[str, ...]]:
    """Most relevant first, and why the search was limited. What was chosen for this opening before is read
    again; a fact that was replaced since comes with the others."""
    chosen = request.chosen("semantic")
    if chosen is not None:
        scores = {pk: score for pk, score in chosen.items() if score is not None}
        rows = SemanticMemory.objects.in_home(request.home).in_bulk(list(scores)) if scores else {}
        again = sorted(rows.values(), key=lambda row: (-scores[row.pk], row.key))
        return [_Fact(row.pk, row.key, row.value, row.source, scores[row.pk]) for row in again], ()
    found = semantic_search(
        home=request.home,
        query=request.opening_message,
        limit=SEMANTIC_RELEVANT_ROWS,
        mode=request.search_mode,
    )
    hits = [_Fact(hit.row.pk, hit.row.key, hit.row.value, hit.row.source, hit.score) for hit in found.hits]
    return hits, found.degraded


def _facts(home: Workspace, relevant: Sequence[_Fact], *, limit: int) -> Iterator[_Fact]:
    """The relevant ones by their score, then the others, stated ones first, newest first. Read on only while
    they are asked for."""
    seen = {fact.pk for fact in relevant}
    yield from relevant
    with connection.cursor() as cursor:
        cursor.execute(_OTHERS, [home.pk, Source.USER_EXPLICIT, limit] * 2)
        while rows := cursor.fetchmany(_ROWS_PER_FETCH):
            for pk, key, value, source in rows:
                if pk not in seen:
                    # Read past the ORM, a JSON column is still text.
                    yield _Fact(pk, key, json.loads(value) if isinstance(value, str) else value, source)


def _noted(facts: Iterator[_Fact], into: list[_Fact]) -> Iterator[_Fact]:
    """The same facts, each kept in a list once it was asked for."""
    for fact in facts:
        into.append(fact)
        yield fact


def _line(fact: _Fact) -> Line:
    source = _source(fact)
    return Line(f"- {fact.key}: {stored_line(_value(fact.value))} [{source.citation}]", source)


def _source(fact: _Fact) -> SourceRef:
    return SourceRef(kind="semantic", object_id=fact.pk, citation=f"sem:{fact.key}", score=fact.score)


def _value(value: Any) -> str:
    """Text as it is; everything else as compact JSON, so that 1, "1" and true stay apart."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _section(heading: str, lines: list[Line]) -> list[str]:
    return [heading, *(line.text for line in lines)] if lines else []
