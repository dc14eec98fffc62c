"""What the home page shows: the newest rows of each layer, the newest refusals, and what waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db.models import Count, Q

from crewsite.accounts.jobs import jobs_for
from crewsite.dashboard.events import EventLine
from crewsite.dashboard.reviews import reviews_open
from crewsite.jobs.models import Job
from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from memory.models import EpisodicMemory, SemanticMemory
from memory.rules import value_words

if TYPE_CHECKING:
    from crewsite.dashboard.place import Place
    from memory.models import ReviewItem

LATEST: Final = 5
WAITING: Final = 3
REFUSALS: Final = (
    MemoryEvent.Event.REFUSED,
    MemoryEvent.Event.INJECTION_BLOCKED,
    MemoryEvent.Event.CONFLICT_SKIP,
)

ACTIVE: Final = Q(state__in=[Job.State.QUEUED, Job.State.RUNNING])
FAILED: Final = Q(state=Job.State.FAILED, retried_as__isnull=True)


@dataclass(frozen=True, slots=True)
class Fact:
    row: SemanticMemory
    text: str


@dataclass(frozen=True, slots=True)
class Learned:
    lessons: list[Lesson]
    lesson_count: int
    facts: list[Fact]
    fact_count: int
    episodes: list[EpisodicMemory]
    episode_count: int
    refused: list[EventLine]

    @property
    def is_empty(self) -> bool:
        return not (self.lesson_count or self.fact_count or self.episode_count)


@dataclass(frozen=True, slots=True)
class Waiting:
    reviews: list[ReviewItem]
    review_count: int
    jobs_active: int
    jobs_failed: int

    @property
    def is_idle(self) -> bool:
        return not (self.review_count or self.jobs_active or self.jobs_failed)


def learned_lately(place: Place, *, limit: int = LATEST) -> Learned:
    home = place.home
    lessons = Lesson.objects.in_home(home)
    facts = SemanticMemory.objects.in_home(home)
    episodes = EpisodicMemory.objects.in_home(home)
    refused = MemoryEvent.objects.read_from(place.workspace.pk, home_id=home.pk).filter(event__in=REFUSALS)
    return Learned(
        lessons=list(lessons.order_by("-created_at")[:limit]),
        lesson_count=lessons.count(),
        facts=[Fact(row, value_words(row.value)) for row in facts.order_by("-updated_at")[:limit]],
        fact_count=facts.count(),
        episodes=list(episodes.order_by("-created_at")[:limit]),
        episode_count=episodes.count(),
        refused=[EventLine(event) for event in refused.order_by("-id")[:limit]],
    )


def waiting(place: Place, *, review_count: int, limit: int = WAITING) -> Waiting:
    reviews = reviews_open(place.workspace, place.home).order_by("pk")[:limit] if review_count else ()
    counts = (
        jobs_for(place.user)
        .with_retry()
        .aggregate(active=Count("pk", filter=ACTIVE), failed=Count("pk", filter=FAILED))
    )
    return Waiting(
        reviews=list(reviews),
        review_count=review_count,
        jobs_active=counts["active"],
        jobs_failed=counts["failed"],
    )
