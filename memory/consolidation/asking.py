"""What the model is asked in a pass, and the call itself. Nothing here writes a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constance import config

from crewsite.llm.structured import Structured, structured_call
from crewsite.security.fencing import fence
from memory.consolidation.constants import ENTRIES_MAX, EPISODES_MAX, FACTS_MAX
from memory.consolidation.extensions import extensions_for
from memory.consolidation.schemas import schema_for
from memory.consolidation.transcript import Transcript, render
from memory.constants import (
    KEY_PREFIXES,
    MIN_CONFIDENCE,
    PREFERENCES_MAX_CHARS,
    PROJECTS_MAX_CHARS,
    TEXT_MAX_CHARS,
    TEXT_MIN_CHARS,
)
from memory.live import extra_key_prefixes
from memory.models import ConsolidationReceipt
from memory.prompts import Rendered, prompt_named, prompts_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from crewsite.conversations.models import Conversation
    from memory.consolidation.documents import CurrentDocument

EMPTY = "(empty)"
NONE = "(none)"


@dataclass(frozen=True, slots=True)
class Question:
    """A pass as a prompt. `version` and `sha256` name the files it was made of; `messages_cut` of the
    transcript's messages did not fit."""

    path: str
    rendered: Rendered
    version: str
    sha256: str
    messages_cut: int


def role_of(path: str) -> str:
    """The role or model name that a live setting gives a path."""
    named = str(getattr(config, f"CONSOLIDATION_{path.upper()}_MODEL")).strip()
    return named or "default"


def question_for(
    path: str, conversation: Conversation, transcript: Transcript, documents: Sequence[CurrentDocument]
) -> Question:
    text, cut = render(transcript.lines)
    origin = f"{conversation.get_surface_display()}, conversation"
    fenced = fence(text, kind="transcript", origin=origin, conversation=conversation)
    main = prompt_named(path)
    if path == ConsolidationReceipt.Path.PREFERENCES:
        values, parts = _preferences_values(conversation, documents), []
    else:
        parts = [(*extension.prompt(),) for extension in extensions_for(path)]
        values = {
            "entries_max": ENTRIES_MAX,
            "episodes_max": EPISODES_MAX,
            "episode_min_chars": TEXT_MIN_CHARS,
            "episode_max_chars": TEXT_MAX_CHARS,
            "extensions": "\n\n".join(prompt.render(its).instructions for prompt, its in parts),
        }
    prompts = [main, *(prompt for prompt, _ in parts)]
    return Question(
        path=path,
        rendered=main.render({**values, "transcript": fenced}),
        version=" ".join(f"{prompt.name}@{prompt.version}" for prompt in prompts),
        sha256=prompts_hash(prompts),
        messages_cut=cut,
    )


def _preferences_values(
    conversation: Conversation, documents: Sequence[CurrentDocument]
) -> dict[str, object]:
    values: dict[str, object] = {
        "preferences_max_chars": PREFERENCES_MAX_CHARS,
        "projects_max_chars": PROJECTS_MAX_CHARS,
        "facts_max": FACTS_MAX,
        "min_confidence": MIN_CONFIDENCE,
        "key_prefixes": ", ".join((*KEY_PREFIXES, *extra_key_prefixes())),
    }
    for document in documents:
        layer = document.layer
        values[f"current_{layer}"] = fence(
            document.text or EMPTY, kind=f"current {layer}", origin="memory", conversation=conversation
        )
        lines = "\n".join(document.human_lines)
        values[f"human_{layer}"] = (
            fence(lines, kind=f"lines of the {layer}", origin="a person", conversation=conversation)
            if lines
            else NONE
        )
    return values


def ask(question: Question) -> Structured[BaseModel]:
    """The validated answer. Raises LlmError. Blocks for minutes at worst: no transaction may be open."""
    return structured_call(
        schema=schema_for(question.path),
        instructions=question.rendered.instructions,
        prompt=question.rendered.data,
        role=role_of(question.path),
    )
