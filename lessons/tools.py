"""The tool a model calls to keep a rule. It adds to the service only what a conversation's mode allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewsite.llm.tools import ToolContext, ToolResult
from crewsite.security.origin import Origin, Source
from lessons.models import Lesson
from lessons.services import lesson_write

if TYPE_CHECKING:
    from lessons.results import LessonResult


def learn_add(
    context: ToolContext,
    rule: str,
    negative: str = "",
    category: str = Lesson.Category.KNOWLEDGE,
    scope: str = "",
) -> ToolResult:
    """Keep a rule for all later conversations. Call it when the user corrects you, or says to remember,
    always or never do something.

    `rule`: one instruction that is clear without this conversation, 3 to 1,000 characters, such as "always
    use pytest". `negative`: what not to do instead, if the user said so. `category`: tool, preference or
    knowledge. `scope`: part of a project's path when the rule is for that project only, else empty. Not for
    facts or events (use memory_remember), and never for passwords or keys.
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
        origin=Origin(
            source=Source.USER_EXPLICIT,
            surface=context.surface,
            actor=context.user.get_username() if context.user else "",
            conversation_id=conversation.pk if conversation else None,
        ),
        author=context.user,
    )
    return ToolResult(describe_result(result), result_data(result))


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
