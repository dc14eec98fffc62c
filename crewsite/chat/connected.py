"""What a new conversation stands on, for the empty page: the model, the search by meaning, and how much
memory there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crewsite.accounts.models import Workspace
from crewsite.embeddings.service import embedder_status
from crewsite.llm.targets import target_of
from crewsite.security.text import number_of
from lessons.models import Lesson
from memory.models import EpisodicMemory, SemanticMemory

if TYPE_CHECKING:
    from crewsite.accounts.models import User


@dataclass(frozen=True, slots=True)
class Connected:
    """`is_ready` off: shown as missing."""

    label: str
    text: str
    is_ready: bool = True


def connected(user: User | Any) -> list[Connected]:
    return [_model(), _embedder(), _memory(user)]


def _model() -> Connected:
    target = target_of("default")
    if target is None:
        return Connected("Model", "none: memory answers", is_ready=False)
    return Connected("Model", target.name)


def _embedder() -> Connected:
    status = embedder_status()
    if status.state == "ready":
        return Connected("Search by meaning", status.model_id)
    words = {"loading": "loading; words are searched meanwhile"}
    return Connected("Search by meaning", words.get(status.state, "off: words only"), is_ready=False)


def _memory(user: User | Any) -> Connected:
    """Of the homes this person's workspaces read."""
    homes = Workspace.objects.for_user(user).home_ids()
    counts = [
        (Lesson.objects.filter(home__in=homes).count(), "lesson"),
        (SemanticMemory.objects.filter(home__in=homes).count(), "fact"),
        (EpisodicMemory.objects.filter(home__in=homes).count(), "episode"),
    ]
    said = ", ".join(number_of(count, word) for count, word in counts)
    return Connected("Memory", said)
