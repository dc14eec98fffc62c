"""Which models a person may pick for a conversation, and what a name they typed stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crewsite.llm.constants import MEMORY_MODEL
from crewsite.llm.targets import target_of, targets

DEFAULT: Final = "default"
MEMORY_LABEL: Final = "Memory alone"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`value` is what a conversation keeps; empty stands for the site's default."""

    value: str
    label: str


def model_choices() -> list[ModelChoice]:
    """The default first, then every connection, and memory alone. Just one where no model is connected."""
    default = target_of(DEFAULT)
    if default is None:
        return [ModelChoice("", MEMORY_LABEL)]
    others = [ModelChoice(target.name, target.name) for target in targets() if target.name != default.name]
    return [ModelChoice("", default.name), *others, ModelChoice(MEMORY_MODEL, MEMORY_LABEL)]


def model_named(text: str) -> ModelChoice | None:
    """The choice of a typed name: `default`, `memory`, a connection, or a model of one."""
    name = text.strip()
    if name in {"", DEFAULT}:
        return model_choices()[0]
    if name == MEMORY_MODEL:
        return ModelChoice(MEMORY_MODEL, MEMORY_LABEL)
    target = target_of(name)
    return ModelChoice(target.name, target.name) if target is not None else None
