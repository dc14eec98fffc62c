"""Layer 4 in a prompt: facts, what people stated before what was learned, chosen by the first message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.models import Case, Value, When

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
    from django.db.models import QuerySet

    from memory.context.request import ContextRequest

_STATED = "Facts people stated:"
_LEARNED = "Facts learned automatically:"


@dataclass(frozen=True, slots=True)
class _Fact:
    """The columns a prompt needs; whole rows would cost more to build than the rest of the packet."""

    pk: int
    key: str
    value: Any
    source: str

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
        scores, degraded = _relevance(request)
        facts = _facts(request, scores, limit=cap // SEMANTIC_MIN_LINE_CHARS)
        if not facts:
            return []
        headings = sum(len(text) + 1 for text in (MARKER_SEMANTIC, _STATED, _LEARNED))
        lines = (_line(fact, scores.get(fact.pk)) for fact in facts)
        fitted = fit_lines(lines, room=cap - headings)
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


def _relevance(request: ContextRequest) -> tuple[dict[int, float], tuple[str, ...]]:
    """Score by row id, most relevant first."""
    if not request.message.strip():
        return {}, ()
    found = semantic_search(
        home=request.home, query=request.message, limit=SEMANTIC_RELEVANT_ROWS, mode=request.search_mode
    )
    return {hit.row.pk: hit.score for hit in found.hits}, found.degraded


def _facts(request: ContextRequest, scores: dict[int, float], *, limit: int) -> list[_Fact]:
    """The relevant ones by their score, then the others, stated ones first, newest first."""
    live = SemanticMemory.objects.in_home(request.home)
    stated_first = Case(When(source=Source.USER_EXPLICIT, then=Value(0)), default=Value(1))
    relevant = {fact.pk: fact for fact in _read(live.filter(pk__in=list(scores)))}
    others = live.exclude(pk__in=list(scores)).order_by(stated_first, "-updated_at", "-pk")[:limit]
    return [*(relevant[pk] for pk in scores if pk in relevant), *_read(others)]


def _read(rows: QuerySet[SemanticMemory]) -> list[_Fact]:
    return [_Fact(*columns) for columns in rows.values_list("pk", "key", "value", "source")]


def _line(fact: _Fact, score: float | None) -> Line:
    source = _source(fact, score)
    return Line(f"- {fact.key}: {stored_line(_value(fact.value))} [{source.citation}]", source)


def _source(fact: _Fact, score: float | None = None) -> SourceRef:
    return SourceRef(kind="semantic", object_id=fact.pk, citation=f"sem:{fact.key}", score=score)


def _value(value: Any) -> str:
    """Text as it is; everything else as compact JSON, so that 1, "1" and true stay apart."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _section(heading: str, lines: list[Line]) -> list[str]:
    return [heading, *(line.text for line in lines)] if lines else []
