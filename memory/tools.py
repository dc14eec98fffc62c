"""Tools a model may call: recall and remember.
They add to the services only what a conversation's mode allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crewsite.llm.tools import ToolContext, ToolResult
from crewsite.search.degradation import in_words
from crewsite.search.kinds import Asker, search_kinds
from crewsite.search.recall import search_all
from crewsite.security.fencing import neutralise
from crewsite.security.origin import Origin, Source
from crewsite.security.redaction import redact
from memory.constants import (
    DEFAULT_IMPORTANCE,
    RECALL_QUERY_MAX_CHARS,
    RECALL_TOOL_CHARS_LEAST,
    RECALL_TOOL_CHARS_MOST,
    RECALL_TOOL_LIMIT,
    RECALL_TOOL_LIMIT_MAX,
    RECALL_TOOL_MAX_CHARS,
)
from memory.rules import parse_value
from memory.services import episodic_write, semantic_write

if TYPE_CHECKING:
    from crewsite.search.kinds import RecallHit


def memory_recall(
    context: ToolContext,
    query: str,
    kinds: Sequence[str] = (),
    limit: int = RECALL_TOOL_LIMIT,
    max_chars: int = RECALL_TOOL_MAX_CHARS,
) -> ToolResult:
    """Search what is remembered: facts, past events, lessons and earlier conversations, by meaning and words.

    Use it when the user refers to something from earlier, or when the answer may depend on their preferences,
    people, projects or decisions. Do not use it for general knowledge. Cite what you use by its id in
    brackets.

    Args:
        query: What to look for, in a few words or a sentence, 1 to 2,000 characters.
        kinds: Only these kinds, any of semantic (facts), episodic (events), lesson, message (what was said in
            earlier conversations). Empty for all.
        limit: How many hits at most, up to 40.
        max_chars: How long the answer may be, 200 to 15,000 characters.
    """
    if context.conversation is not None and not context.conversation.reads_memory:
        return ToolResult("This conversation is temporary: memory is not read in it.", {"outcome": "refused"})
    query = query.strip()
    if problem := _question_problem(query, kinds):
        return ToolResult(problem, {"outcome": "refused", "code": "arguments"})
    found = search_all(
        query=query,
        workspace=context.workspace,
        kinds=tuple(kinds) or None,
        limit=max(1, min(limit, RECALL_TOOL_LIMIT_MAX)),
        asker=asker_of(context),
    )
    budget = max(RECALL_TOOL_CHARS_LEAST, min(max_chars, RECALL_TOOL_CHARS_MOST))
    shown, text = _fit([(hit, _line(hit)) for hit in found.hits], budget)
    if found.degraded:
        text = f"{text}\n(The search was limited: {in_words(found.degraded)}.)"
    data: dict[str, Any] = {
        "hits": [
            {
                "kind": hit.kind,
                "id": hit.object_id,
                "citation": hit.citation,
                "score": round(hit.score, 6),
                "at": hit.at.isoformat(timespec="seconds") if hit.at else None,
            }
            for hit in shown
        ],
        "degraded": list(found.degraded),
    }
    return ToolResult(text, data)


def asker_of(context: ToolContext) -> Asker:
    """Whose earlier conversations may answer, and which one is being held."""
    conversation = context.conversation
    return Asker(context.user.pk, conversation.pk if conversation is not None else None)


def _question_problem(query: str, kinds: Sequence[str]) -> str:
    if not query:
        return "Say what to look for: `query` is empty."
    if len(query) > RECALL_QUERY_MAX_CHARS:
        return (
            f"`query` has {len(query):,} characters and may have {RECALL_QUERY_MAX_CHARS:,}; say what to look"
            " for in a sentence."
        )
    known = [kind.name for kind in search_kinds()]
    unknown = [name for name in kinds if name not in known]
    if unknown:
        return f"There is no kind {', '.join(unknown)}; `kinds` holds any of: {', '.join(known)}."
    return ""


def memory_remember(  # noqa: PLR0917 - the parameters are the schema a model fills in
    context: ToolContext,
    text: str = "",
    key: str = "",
    value: str = "",
    importance: float = DEFAULT_IMPORTANCE,
    tags: Sequence[str] = (),
) -> ToolResult:
    """Store something the user wants remembered. Give either `text`, or `key` with `value`.

    Not for rules about how to behave (use learn_add), and never for passwords or keys.

    Args:
        text: One past event or piece of knowledge, a sentence that can be understood alone, 10 to 2,000
            characters.
        key: The name of a lasting fact, such as pref.editor, project.api.language or user.name.
        value: The fact's value. A list or a number is given as JSON text.
        importance: Of an event, 0 to 1.
        tags: Of an event, single lower-case words.
    """
    if context.conversation is not None and not context.conversation.writes_memory:
        return ToolResult(
            "This conversation writes no memory, so nothing was stored.", {"outcome": "refused"}
        )
    if bool(key) == bool(text.strip()):
        return ToolResult("Give either text, or key with value.", {"outcome": "refused", "code": "arguments"})
    if key:
        return _remember_fact(context, key, value)
    return _remember_event(context, text, importance, tags)


def _remember_fact(context: ToolContext, key: str, value: str) -> ToolResult:
    result = semantic_write(
        home=context.workspace.home,
        key=key,
        value=parse_value(value),
        origin=_origin(context),
        author=context.user,
    )
    row_id = result.row.pk if result.row else None
    data = {"outcome": result.outcome, "kind": "semantic", "id": row_id, "code": result.code}
    if result.outcome == "refused":
        return ToolResult(f"Not stored: {result.message}", data)
    return ToolResult(f"{key} {result.outcome}. [sem:{key}]", data)


def _remember_event(context: ToolContext, text: str, importance: float, tags: Sequence[str]) -> ToolResult:
    result = episodic_write(
        home=context.workspace.home,
        text=text,
        importance=importance,
        tags=tags,
        origin=_origin(context),
        author=context.user,
    )
    row_id = result.row.pk if result.row else None
    data: dict[str, Any] = {
        "outcome": result.outcome,
        "kind": "episodic",
        "id": row_id,
        "code": result.code,
        "dropped_tags": list(result.dropped_tags),
        "possibly_supersedes": result.possibly_supersedes,
    }
    if result.outcome == "refused":
        return ToolResult(f"Not stored: {result.message}", data)
    said = "Stored." if result.outcome == "stored" else "Known already; its date was refreshed."
    if result.possibly_supersedes:
        said += f" It may replace [epi:{result.possibly_supersedes}]; both are kept until someone decides."
    if result.dropped_tags:
        said += f" Not usable as tags: {', '.join(result.dropped_tags)}."
    return ToolResult(f"{said} [epi:{row_id}]", data)


def _origin(context: ToolContext) -> Origin:
    return Origin(
        source=Source.USER_EXPLICIT,
        surface=context.surface,
        actor=context.user.get_username() if context.user else "",
        conversation_id=context.conversation.pk if context.conversation else None,
    )


def _line(hit: RecallHit) -> str:
    """Redacted again on the way out: a row may be older than a pattern.
    Then made unable to imitate our markers.
    """
    date = f"{hit.at:%Y-%m-%d} " if hit.at else ""
    return f"- {date}{neutralise(redact(hit.text).text)} [{hit.citation}]"


def _fit(lines: Sequence[tuple[RecallHit, str]], budget_chars: int) -> tuple[list[RecallHit], str]:
    """The first lines that fit, whole, and the hits they stand for."""
    shown: list[RecallHit] = []
    kept: list[str] = []
    size = 0
    for hit, line in lines:
        size += len(line) + 1
        if size > budget_chars:
            break
        shown.append(hit)
        kept.append(line)
    if not lines:
        return [], "Nothing is remembered about this."
    rest = len(lines) - len(shown)
    if rest:
        kept.append(f"({rest} more not shown; ask for something narrower.)")
    return shown, "\n".join(kept)
