"""The title of a new conversation, asked of the small model once its first answer stands. Until then, and
without a model, the first words are the title."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.chat.constants import TITLE_READ_CHARS, TITLE_TIMEOUT_S
from crewsite.chat.hub import hub
from crewsite.chat.models import Turn
from crewsite.chat.payloads import frame
from crewsite.chat.producing import load_agent
from crewsite.chat.threads import in_database, in_tool_thread
from crewsite.conversations.constants import TITLE_PROPOSED_CHARS
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import title_propose
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target, target_of
from crewsite.llm.usage import price_of, usage_record
from crewsite.security.origin import Surface
from crewsite.security.redaction import redact
from crewsite.security.text import clean

if TYPE_CHECKING:
    from uuid import UUID

logger = logging.getLogger(__name__)

INSTRUCTIONS: Final = (
    "Name the conversation below in three to six words, in its own language. Answer with the name alone: no "
    "quotes, no full stop, nothing else."
)
SURFACES: Final = frozenset(
    {Surface.WEB, Surface.SLACK_DM, Surface.SLACK_CHANNEL}
)  # whose titles people read


@dataclass(frozen=True, slots=True)
class _Untitled:
    """A conversation after its first exchange, still under its first words."""

    title: str
    exchange: str
    target: Target


_tasks: set[asyncio.Task[None]] = set()  # a loop keeps only weak references to its tasks


def title_later(conversation_id: UUID) -> None:
    """Ask for a title beside everything else. Whatever goes wrong costs nothing but the title."""
    task = asyncio.create_task(_title(conversation_id), name=f"title-{conversation_id}")
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _title(conversation_id: UUID) -> None:
    try:
        untitled = await in_database(_untitled, conversation_id)
        if untitled is None:
            return
        async with asyncio.timeout(TITLE_TIMEOUT_S):
            title = await _asked(untitled)
        is_new: bool = await in_database(_retitle, conversation_id, untitled.title, title)
        if is_new:
            hub.publish(conversation_id, frame("title", conversation=str(conversation_id), title=title))
    except Exception as error:
        logger.info("Conversation %s keeps its first words as title: %s", conversation_id, error)


async def _asked(untitled: _Untitled) -> str:
    from pydantic_ai import Agent

    await in_tool_thread(load_agent)
    clock = asyncio.get_running_loop().time
    started = clock()
    result = await Agent(model_for(untitled.target), instructions=INSTRUCTIONS).run(untitled.exchange)
    used = {"input_tokens": result.usage.input_tokens, "output_tokens": result.usage.output_tokens}
    await in_database(
        usage_record,
        model=untitled.target.name,
        purpose="titles",
        seconds=clock() - started,
        cost_usd=price_of(untitled.target, used),
        input_tokens=used["input_tokens"],
        output_tokens=used["output_tokens"],
    )
    return title_of(result.output)


def title_of(answer: str) -> str:
    """A title out of what a model answered; empty if it is none, such as a whole paragraph."""
    lines = [line.strip() for line in redact(clean(answer)).text.splitlines() if line.strip()]
    line = lines[-1].strip(" \"'“”„«»`*#.") if lines else ""
    return title_propose(line) if 0 < len(line) <= 2 * TITLE_PROPOSED_CHARS else ""


def _untitled(conversation_id: UUID) -> _Untitled | None:
    conversation = Conversation.objects.filter(pk=conversation_id, surface__in=SURFACES).first()
    turns = list(
        Turn.objects.filter(conversation_id=conversation_id).select_related(
            "user_message", "assistant_message"
        )[:2]
    )
    target = target_of("smol")
    # An agent is started for its answer; for a few words that would be a waste.
    if conversation is None or len(turns) != 1 or target is None or target.provider == "acp":
        return None
    asked, answer = turns[0].user_message.content, turns[0].assistant_message
    if answer is None or conversation.title != title_propose(asked):
        return None
    said = f"Person: {asked[:TITLE_READ_CHARS]}\n\nAssistant: {answer.content[:TITLE_READ_CHARS]}"
    return _Untitled(conversation.title, said, target)


def _retitle(conversation_id: UUID, old: str, new: str) -> bool:
    """Unless somebody renamed it meanwhile."""
    return bool(new) and bool(Conversation.objects.filter(pk=conversation_id, title=old).update(title=new))
