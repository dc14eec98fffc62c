"""The tools a model calls to keep, list and remove rules. They add to the services only what a conversation's
mode and the person's role allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from crewsite.accounts.selectors import may_delete
from crewsite.llm.tools import ToolContext, ToolResult
from crewsite.security.fencing import neutralise
from crewsite.security.origin import Origin, Source
from crewsite.security.redaction import redact
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_write, lessons_matching

if TYPE_CHECKING:
    from lessons.results import LessonResult

LIST_DEFAULT: Final = 20
LIST_MAX: Final = 100
LIST_MAX_CHARS: Final = 15_000  # a tool's result is cut at 16,000 (chapter 05, 5.5), and a cut would lose ids
Category = Literal["tool", "preference", "knowledge"]


def learn_add(
    context: ToolContext,
    rule: str,
    negative: str = "",
    category: Category = "knowledge",
    scope: str = "",
) -> ToolResult:
    """Keep a rule for all later conversations. Call it when the user corrects you, or says to remember,
    always or never do something. Not for facts or events (use memory_remember), and never for passwords or
    keys.

    Args:
        rule: One instruction that is clear without this conversation, 3 to 1,000 characters, such as "always
            use pytest".
        negative: What not to do instead, if the user said so.
        category: What the rule is about.
        scope: Part of a project's path, when the rule is for that project only.
    """
    conversation = context.conversation
    if conversation is not None and not conversation.writes_memory:
        return ToolResult("This conversation writes no memory, so nothing was kept.", {"outcome": "refused"})
    result = lesson_write(
        home=context.workspace.home,
        rule=rule,
        negative=negative,
        category=category,
        scope=scope,
        origin=_origin(context),
        author=context.user,
    )
    return ToolResult(describe_result(result), result_data(result))


def learn_list(context: ToolContext, limit: int = LIST_DEFAULT, offset: int = 0) -> ToolResult:
    """List the rules that are in force, the newest first, with their ids.

    Use it when the user asks what rules you follow, or before you remove some. Not to find the rules for a
    task: memory_recall does that.

    Args:
        limit: How many at most, 1 to 100.
        offset: How many to skip; the answer names the next one.
    """
    if context.conversation is not None and not context.conversation.reads_memory:
        return ToolResult("This conversation is temporary: memory is not read in it.", {"outcome": "refused"})
    limit, offset = max(1, min(limit, LIST_MAX)), max(0, offset)
    live = Lesson.objects.in_home(context.workspace.home).order_by("-created_at", "-pk")
    total = live.count()
    shown = _fitting(list(live[offset : offset + limit]))
    after = offset + len(shown) if offset + len(shown) < total else None
    more = f" Next offset: {after}." if after else ""
    text = "\n".join([f"Showing {len(shown)} of {total}.{more}", *_lines(shown)])
    return ToolResult(text, {"ids": [row.pk for row in shown], "total": total, "next_offset": after})


def learn_remove(context: ToolContext, query: str, *, all: bool = False) -> ToolResult:
    """Remove rules the user no longer wants, and only when the user asked for it. An operator can restore
    what was removed. To change a rule, teach the new one with learn_add instead.

    Args:
        query: An id such as les:12, or a piece of the rule's text. A text that meets several rules removes
            none and lists them.
        all: Remove all rules the text meets.
    """
    conversation = context.conversation
    if conversation is not None and not conversation.writes_memory:
        return ToolResult(
            "This conversation writes no memory, so nothing was removed.", {"outcome": "refused"}
        )
    found = lessons_matching(context.workspace.home, query)
    mine = [row for row in found if context.user is None or may_delete(context.user, row)]
    if not mine:
        why = (
            "only an owner of the workspace may remove what others taught."
            if found
            else "no rule says that; learn_list shows those in force."
        )
        return ToolResult(f"Not removed: {why}", _removal("forbidden" if found else "not_found", found))
    if len(mine) > 1 and not all:
        text = "Several rules say that; name one by its id, or ask for all:"
        return ToolResult("\n".join([text, *_lines(mine)]), _removal("ambiguous", mine))
    for row in mine:
        lesson_delete(row=row, origin=_origin(context), reason="removed in a conversation")
    return ToolResult("\n".join(["Removed:", *_lines(mine)]), _removal("removed", mine))


def _fitting(rows: Sequence[Lesson]) -> list[Lesson]:
    """The first rows whose lines fit one answer; never none."""
    kept: list[Lesson] = []
    size = 0
    for row, line in zip(rows, _lines(rows), strict=True):
        size += len(line) + 1
        if kept and size > LIST_MAX_CHARS:
            break
        kept.append(row)
    return kept


def _lines(rows: Sequence[Lesson]) -> list[str]:
    return [f"- {neutralise(redact(row.rendered).text)} [{row.citation}]" for row in rows]


def _removal(outcome: str, rows: Sequence[Lesson]) -> dict[str, Any]:
    rule = "; ".join(row.rendered for row in rows[:LIST_DEFAULT])
    return {"outcome": outcome, "kind": "lesson", "rule": rule, "ids": [row.pk for row in rows]}


def _origin(context: ToolContext) -> Origin:
    return Origin(
        source=Source.USER_EXPLICIT,
        surface=context.surface,
        actor=context.user.get_username() if context.user else "",
        conversation_id=context.conversation.pk if context.conversation else None,
    )


def describe_result(result: LessonResult) -> str:
    """One sentence on what became of a lesson, for a model or a person."""
    if result.row is None:
        return f"Not kept: {result.message}"
    cited = f"[{result.row.citation}]"
    if result.outcome == "unchanged":
        return f'Known already: "{result.row.rendered}" {cited}'
    if not result.superseded:
        return f'Kept: "{result.row.rendered}" {cited}'
    old = ", ".join(f"les:{pk}" for pk in result.superseded)
    return f'Kept: "{result.row.rendered}" {cited}. It takes the place of {old}.'


def result_data(result: LessonResult) -> dict[str, Any]:
    return {
        "outcome": result.outcome,
        "kind": "lesson",
        "id": result.row.pk if result.row else None,
        "citation": result.row.citation if result.row else "",
        "rule": result.row.rendered if result.row else "",
        "superseded": list(result.superseded),
        "code": result.code,
        "message": result.message,
    }
