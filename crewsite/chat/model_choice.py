"""Which models a person may pick for a conversation, and what a name they typed stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from crewsite.llm.constants import ENVIRONMENT, MEMORY_MODEL
from crewsite.llm.offered import name_check, offer_kept, offers
from crewsite.llm.targets import other_model, target_of, targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crewsite.llm.offered import Offer
    from crewsite.llm.targets import Target

DEFAULT: Final = "default"
MEMORY_LABEL: Final = "Memory alone"
# Of one endpoint in a picker; the largest gateways offer hundreds, and any of them may be typed.
PICKED_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """`value` is what a conversation keeps; empty stands for the site's default."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class ModelGroup:
    """What else one endpoint offers."""

    label: str
    choices: tuple[ModelChoice, ...]


@dataclass(frozen=True, slots=True)
class ModelMenu:
    """`choices` are what operators connected, and memory alone. `problems` say which endpoint did not tell
    what it offers; `is_stale` that one is to be asked anew, and `can_ask` that there is one."""

    choices: list[ModelChoice]
    groups: list[ModelGroup] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    is_stale: bool = False
    can_ask: bool = False

    @property
    def has_choice(self) -> bool:
        return len(self.choices) > 1 or bool(self.groups)

    @property
    def offered(self) -> list[str]:
        """What endpoints offer beside the models that were connected."""
        return [choice.value for group in self.groups for choice in group.choices]

    def __iter__(self) -> Iterator[ModelChoice]:
        yield from self.choices
        for group in self.groups:
            yield from group.choices


@dataclass(frozen=True, slots=True)
class Named:
    """What a typed name came to: a choice, perhaps with a `warning`, or why it is none."""

    choice: ModelChoice | None
    refusal: str = ""
    warning: str = ""


def model_choices() -> list[ModelChoice]:
    """The default first, then every connection, and memory alone. Just one where no model is connected."""
    default = target_of(DEFAULT)
    if default is None:
        return [ModelChoice("", MEMORY_LABEL)]
    others = [ModelChoice(target.name, target.name) for target in targets() if target.name != default.name]
    return [ModelChoice("", default.name), *others, ModelChoice(MEMORY_MODEL, MEMORY_LABEL)]


def model_menu(*, current: str = "", ask: bool = False, fresh: bool = False) -> ModelMenu:
    """All that may be picked, with `current` whatever it is. Endpoints are asked only when told to; else what
    they answered last is shown."""
    choices = model_choices()
    is_connected = len(choices) > 1
    asked = [target for target in targets() if target.is_remote] if is_connected else []
    if ask or fresh:
        offers(asked, fresh=fresh)
    known_offers = {target: offer_kept(target) for target in asked}
    menu = ModelMenu(
        choices=choices,
        groups=[group for target, offer in known_offers.items() if (group := _group(target, offer))],
        problems=[f"{t.connection}: {o.problem}" for t, o in known_offers.items() if o and o.problem],
        is_stale=any(offer is None or not offer.is_fresh for offer in known_offers.values()),
        can_ask=bool(asked),
    )
    if current not in {choice.value for choice in menu}:
        choices.append(ModelChoice(current, current))
    return menu


def model_named(text: str) -> ModelChoice | None:
    """The choice of a name: `default`, `memory`, a connection, or a model of one whether it has it or not."""
    name = text.strip()
    if name in {"", DEFAULT}:
        return model_choices()[0]
    if name == MEMORY_MODEL:
        return ModelChoice(MEMORY_MODEL, MEMORY_LABEL)
    target = target_of(name)
    return ModelChoice(target.name, target.name) if target is not None else None


def model_checked(text: str) -> Named:
    """The same, where the endpoint that would be called offers the model, as far as it tells. Asks it, for
    seconds at most, unless it told lately."""
    choice = model_named(text)
    if choice is None:
        known = ", ".join(one.value or DEFAULT for one in model_choices())
        return Named(None, f"No model is called “{text.strip()[:100]}”. There are: {known}.")
    target = target_of(choice.value) if choice.value else None
    if target is None or target in targets():
        return Named(choice)
    refusal, warning = name_check(target)
    return Named(None, refusal) if refusal else Named(choice, warning=warning)


def _group(target: Target, offer: Offer | None) -> ModelGroup | None:
    names = [name for name in offer.for_chat if name != target.model] if offer is not None else []
    found = [other_model(target, name) for name in names[:PICKED_MAX]]
    choices = tuple(ModelChoice(one.name, one.model) for one in found if one is not None)
    label = "More models" if target.connection == ENVIRONMENT else f"More of {target.connection}"
    return ModelGroup(label, choices) if choices else None
