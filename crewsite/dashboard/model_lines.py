"""What the page Models shows: every connection with its state and its roles, and the use of the last days."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crewsite.llm.breaker import breaker_for
from crewsite.llm.constants import ENVIRONMENT, ROLES
from crewsite.llm.models import Connection
from crewsite.llm.targets import Target, endpoint_configured, role_setting, target_from, target_of
from crewsite.security.encryption import SecretLocked

if TYPE_CHECKING:
    from datetime import datetime

USE_DAYS: Final = 14
ROLE_WORDS: Final = {"default": "answers", "smol": "small jobs", "judge": "judges"}


@dataclass(frozen=True, slots=True)
class Line:
    """One connection. `pk` is 0 for that of the environment. `failing` says what the circuit breaker saw."""

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


def connection_lines() -> list[Line]:
    plays = {role: target.connection for role in ROLES if (target := target_of(role)) is not None}
    lines = [_of_environment(target, plays) for target in [endpoint_configured()] if target is not None]
    return lines + [_of_row(row, plays) for row in Connection.objects.all()]


def names_to_choose() -> list[str]:
    """What a role's field offers; any model of a connection may be typed as well."""
    found = [ENVIRONMENT] if endpoint_configured() is not None else []
    return found + list(Connection.objects.values_list("name", flat=True))


def role_now(role: str) -> str:
    """Who plays it, where nobody was chosen."""
    target = target_of(role)
    if role_setting(role) or target is None:
        return ""
    return target.name


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
    )


def _of_row(row: Connection, plays: dict[str, str]) -> Line:
    locked = ""
    failing = ""
    try:
        target = target_from(row)
        failing = _failing(target)
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
        failing=failing,
    )


def _roles(name: str, plays: dict[str, str]) -> tuple[str, ...]:
    return tuple(ROLE_WORDS[role] for role, connection in plays.items() if connection == name)


def _failing(target: Target) -> str:
    breaker = breaker_for(target.endpoint)
    if breaker.open_for_s:
        return f"failed repeatedly, tried again in {breaker.open_for_s:.0f} s"
    return "the last call failed" if breaker.failures else ""
