"""The answer when no model is connected: what memory holds about the message, with citations, and explicit
requests to remember obeyed. Deterministic, and plain about not being a model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crewsite.chat.constants import MEMORY_HITS, TOOL_SUMMARY_CHARS
from crewsite.chat.keeping import TOOL_NAMES, keep
from crewsite.chat.models import Turn
from crewsite.llm.constants import MEMORY_MODEL
from crewsite.search.degradation import in_words
from crewsite.search.recall import Recall, search_all
from crewsite.search.unmarked import unmarked
from crewsite.security.redaction import redact
from memory.intents import Intent, detect, forget_query, states_something

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation
    from crewsite.llm.tools import ToolContext

HIT_CHARS = 300
NOTHING_FOUND = "Memory holds nothing about this."
KEEP_HINT = "To keep something, start with “remember that …” or “remember to …”."
NOT_KEPT = "What you wrote was not kept."
CONNECT_LINK = "No language model is connected: [connect one](/settings/models/)."
CONNECT_ASK = "No language model is connected; the operator can connect one."


def answer_from_memory(context: ToolContext, text: str) -> tuple[str, list[dict[str, Any]]]:
    """The answer's Markdown, and the tool calls it amounts to (for the card with undo)."""
    conversation: Conversation = context.conversation
    intent = detect(text)
    if intent is not None:
        if not conversation.writes_memory:
            refusal = f"This conversation is {conversation.mode}: nothing is written to memory from it."
            return _ended(context, refusal), []
        sentence, call = _obey(context, intent)
        return _ended(context, sentence), [call]
    if not conversation.reads_memory:
        return _ended(context, "This conversation is temporary: memory is not read in it."), []
    found = search_all(query=text, workspace=context.workspace, limit=MEMORY_HITS)
    hint = f"To have it forgotten, send `/forget {what}`." if (what := forget_query(text)) else KEEP_HINT
    answer = recall_markdown(found, nothing=f"{NOTHING_FOUND} {hint}")
    if what and found.hits:
        answer = f"{answer}\n\n{hint}"
    elif states_something(text) and found.hits:
        answer = f"{answer}\n\n{NOT_KEPT} {KEEP_HINT}"
    return _ended(context, answer), []


def recall_markdown(found: Recall, *, nothing: str = NOTHING_FOUND) -> str:
    """Hits as a list, each with its citation and day; a line says when the search was limited."""
    lines = [nothing] if not found.hits else ["From memory:", ""]
    for hit in found.hits:
        day = f", {hit.at.date().isoformat()}" if hit.at else ""
        text = " ".join(unmarked(redact(hit.text).text).split())
        shown = text if len(text) <= HIT_CHARS else text[: HIT_CHARS - 1] + "…"
        lines.append(f"- {shown} `[{hit.citation}]`{day}")
    if found.degraded:
        lines += ["", f"The search was limited: {in_words(found.degraded)}."]
    return "\n".join(lines)


def _obey(context: ToolContext, intent: Intent) -> tuple[str, dict[str, Any]]:
    kept = keep(context, intent)
    args = {"text": intent.text} if intent.kind != "rule" else {"rule": intent.text}
    call = {
        "id": f"memory-{context.turn_id}",
        "name": TOOL_NAMES[kept.kind],
        "state": "done" if kept.ok else "failed",
        "args": args,
        "args_summary": json.dumps(args, ensure_ascii=False)[:TOOL_SUMMARY_CHARS],
        "result": kept.text,
        "summary": kept.text[:TOOL_SUMMARY_CHARS],
        "data": kept.data,
    }
    return kept.text, call


def _ended(context: ToolContext, text: str) -> str:
    """With the hint how to connect a model, once a conversation, and not where memory alone was chosen."""
    # This turn still runs, so it is none of these.
    answered = Turn.objects.filter(
        conversation=context.conversation, model=MEMORY_MODEL, state=Turn.State.DONE
    )
    if context.conversation.model == MEMORY_MODEL or answered.exists():
        return text
    return f"{text}\n\n*{CONNECT_LINK if context.user.is_superuser else CONNECT_ASK}*"
