"""What the home page shows of a memory home: the newest rows of each layer and the newest refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from memory.models import EpisodicMemory, SemanticMemory

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

LATEST: Final = 5
REFUSALS: Final = (
    MemoryEvent.Event.REFUSED,
    MemoryEvent.Event.INJECTION_BLOCKED,
    MemoryEvent.Event.CONFLICT_SKIP,
)


@dataclass(frozen=True, slots=True)
class Learned:
    lessons: list[Lesson]
    lesson_count: int
    facts: list[SemanticMemory]
    fact_count: int
    episodes: list[EpisodicMemory]
    episode_count: int
    refused: list[MemoryEvent]

    @property
    def is_empty(self) -> bool:
        return not (self.lesson_count or self.fact_count or self.episode_count)


def learned_lately(home: Workspace, *, limit: int = LATEST) -> Learned:
    lessons = Lesson.objects.in_home(home)
    facts = SemanticMemory.objects.in_home(home)
    episodes = EpisodicMemory.objects.in_home(home)
    return Learned(
        lessons=list(lessons.order_by("-created_at")[:limit]),
        lesson_count=lessons.count(),
        facts=list(facts.order_by("-updated_at")[:limit]),
        fact_count=facts.count(),
        episodes=list(episodes.order_by("-created_at")[:limit]),
        episode_count=episodes.count(),
        refused=list(MemoryEvent.objects.in_home(home.pk).filter(event__in=REFUSALS)[:limit]),
    )
