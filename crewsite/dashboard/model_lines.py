"""What the page Models shows: every connection with its state and its roles, and the use of the last days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.chat.model_choice import model_menu
from crewsite.llm.breaker import breaker_for
from crewsite.llm.constants import ENVIRONMENT, ROLES
from crewsite.llm.models import Connection
from crewsite.llm.offered import is_offered, offer_kept
from crewsite.llm.targets import Target, endpoint_configured, role_setting, target_from, target_of
from crewsite.security.encryption import SecretLocked

if TYPE_CHECKING:
    from datetime import datetime

    from crewsite.llm.offered import Offer

USE_DAYS: Final = 14
# Who plays a role that nobody was chosen for.
NOBODY_WORDS: Final = {
    "default": "The first connection",
    "smol": "Same as Answers",
    "judge": "Same as Answers",
}
ROLE_WORDS: Final = {"default": "answers", "smol": "small jobs", "judge": "judges"}


@dataclass(frozen=True, slots=True)
class Line:
    """One connection. `pk` is 0 for that of the environment. `failing` says what the circuit breaker saw, and
    `offer` what the endpoint last told of its models; None where it has no list or was not asked yet."""

    pk: int
    name: str
    provider: str
    model: str
    address: str
    key: str
    key_set_at: datetime | None
    is_locked: bool
    roles: tuple[str, ...]
    failing: str
    can_ask: bool = False
    offer: Offer | None = None

    @property
    def is_missing(self) -> bool:
        """The endpoint lists its models, and this is none of them."""
        return (
            self.offer is not None and self.offer.is_known and not is_offered(self.model, self.offer.models)
        )


def connection_lines() -> list[Line]:
    plays = {role: target.connection for role in ROLES if (target := target_of(role)) is not None}
    lines = [_of_environment(target, plays) for target in [endpoint_configured()] if target is not None]
    return lines + [_of_row(row, plays) for row in Connection.objects.all()]


def names_to_choose() -> list[str]:
    """What a role's field offers: connections, what endpoints told of, and what was chosen before."""
    found = [ENVIRONMENT] if endpoint_configured() is not None else []
    found += Connection.objects.values_list("name", flat=True)
    found += [*model_menu().offered, *map(role_setting, ROLES)]
    return list(filter(None, dict.fromkeys(found)))


def models_offered(row: Connection) -> list[str]:
    """For the field that names the connection's model; empty where the endpoint was not asked."""
    try:
        offer = offer_kept(target_from(row)) if row.pk else None
    except SecretLocked:
        offer = None
    return list(offer.for_chat) if offer is not None else []


def _of_environment(target: Target, plays: dict[str, str]) -> Line:
    return Line(
        pk=0,
        name=ENVIRONMENT,
        provider=Connection.Provider(target.provider).label,
        model=target.model,
        address=target.base_url,
        key="key set" if target.api_key else "no key",
        key_set_at=None,
        is_locked=False,
        roles=_roles(ENVIRONMENT, plays),
        failing=_failing(target),
        can_ask=target.is_remote,
        offer=offer_kept(target),
    )


def _of_row(row: Connection, plays: dict[str, str]) -> Line:
    locked = ""
    target = None
    try:
        target = target_from(row)
    except SecretLocked as error:
        locked = error.key_id
    key = f"key …{row.key_hint}" if row.key_hint else "key set" if row.key_set_at else "no key"
    return Line(
        pk=row.pk,
        name=row.name,
        provider=row.get_provider_display(),
        model=row.model,
        address=row.base_url,
        key=f"locked: needs the encryption key {locked}" if locked else key,
        key_set_at=row.key_set_at,
        is_locked=bool(locked),
        roles=_roles(row.name, plays),
        failing=_failing(target) if target else "",
        can_ask=target is not None and target.is_remote,
        offer=offer_kept(target) if target else None,
    )


def _roles(name: str, plays: dict[str, str]) -> tuple[str, ...]:
    return tuple(ROLE_WORDS[role] for role, connection in plays.items() if connection == name)


def _failing(target: Target) -> str:
    breaker = breaker_for(target.endpoint)
    if breaker.open_for_s:
        return f"failed repeatedly, tried again in {breaker.open_for_s:.0f} s"
    return "the last call failed" if breaker.failures else ""
