"""How many characters each part of a prompt may take, scaled to the model's window."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

from memory.context.constants import (
    BUDGET_BASE_CHARS,
    BUDGET_FLOOR_FRACTION,
    FRACTIONS,
    PER_MESSAGE_CHARS,
    REFERENCE_WINDOW_TOKENS,
)


@dataclass(frozen=True, slots=True)
class SectionCaps:
    """Characters per section. `thread` is the cap without compression of the thread history."""

    thread_compressed: int
    lessons: int
    thread: int
    history: int
    skills: int
    steering: int
    semantic: int
    episodic: int
    projects: int
    preferences: int
    preamble: int


@dataclass(frozen=True, slots=True)
class ResolvedCaps:
    base: int
    per_message: int
    sections: SectionCaps

    @property
    def max_context(self) -> int:
        """The sum of the section caps, thread history counted once (compressed)."""
        total = sum(int(getattr(self.sections, field.name)) for field in fields(self.sections))
        return total - self.sections.thread

    def ceiling(self, *, lazy_skills: bool = False) -> int:
        """The cap of a whole packet: one shared pool, or the sum of the sections once skills load lazily."""
        return self.max_context if lazy_skills else self.base


@lru_cache(maxsize=64)
def resolve_caps(window: int | None) -> ResolvedCaps:
    """Caps for a model window in tokens; None is the reference window. The preamble never scales."""
    scale = 1.0 if window is None else max(window / REFERENCE_WINDOW_TOKENS, BUDGET_FLOOR_FRACTION)
    base = int(BUDGET_BASE_CHARS * scale)
    scaled = {name: int(base * fraction) for name, fraction in FRACTIONS.items()}
    scaled["preamble"] = int(BUDGET_BASE_CHARS * FRACTIONS["preamble"])
    return ResolvedCaps(base=base, per_message=int(PER_MESSAGE_CHARS * scale), sections=SectionCaps(**scaled))
