"""The tool with which an agent hands over what was said, for consolidation to learn from later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypedDict

from crewsite.conversations.constants import (
    MESSAGE_MAX_CHARS,
    SESSION_MAX_CHARS,
    TRANSCRIPT_MAX_CHARS,
    TRANSCRIPT_MAX_MESSAGES,
)
from crewsite.conversations.transcripts import transcript_append
from crewsite.llm.tools import ToolContext, ToolResult


class SaidMessage(TypedDict):
    role: Literal["user", "assistant"]
    content: str


def conversation_log(
    context: ToolContext, messages: Sequence[SaidMessage], session: str = "", project: str = ""
) -> ToolResult:
    """Hand over what was said in this conversation, so that memory can learn from it later. Call it at the
    end of a task or of a long stretch.

    Not for single facts or rules: memory_remember and learn_add keep those at once. Leave out tool output.

    Args:
        messages: The stretch in order, each message with its role (user or assistant) and its text; 1 to 200.
        session: Your own id of this conversation. With it, later stretches are added to the same transcript
            and nothing is stored twice.
        project: Path of the project it is about.
    """
    said = [(message["role"], message["content"]) for message in messages if message["content"].strip()]
    if problem := _problem(said, session):
        return ToolResult(problem, {"outcome": "refused", "code": "arguments"})
    conversation, stored = transcript_append(
        owner=context.user,
        workspace=context.workspace,
        surface=context.surface,
        said=said,
        session=session,
        project=project[:500],
    )
    known = len(said) - stored
    text = f"Kept for memory to learn from: {stored} of {len(said)}."
    if known:
        text += " The others were known already."
    outcome = "stored" if stored else "unchanged"
    return ToolResult(text, {"outcome": outcome, "conversation": str(conversation.pk), "stored": stored})


def _problem(said: Sequence[tuple[str, str]], session: str) -> str:
    """What to change, or nothing."""
    chars = [len(text) for _, text in said]
    if not said:
        return "`messages` holds no text: give at least one message with its role and content."
    if len(said) > TRANSCRIPT_MAX_MESSAGES:
        return f"`messages` has {len(said)} and may have {TRANSCRIPT_MAX_MESSAGES}: send several stretches."
    if max(chars) > MESSAGE_MAX_CHARS:
        return f"A message has {max(chars):,} characters and may have {MESSAGE_MAX_CHARS:,}: shorten it."
    if sum(chars) > TRANSCRIPT_MAX_CHARS:
        return (
            f"`messages` have {sum(chars):,} characters together and may have {TRANSCRIPT_MAX_CHARS:,}:"
            " send several stretches."
        )
    if len(session) > SESSION_MAX_CHARS:
        return f"`session` has {len(session)} characters and may have {SESSION_MAX_CHARS}."
    return ""
