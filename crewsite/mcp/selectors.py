"""What the Connect page shows of a person's own tokens: whether an agent has used one, and what it did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from crewsite.accounts.models import ApiToken
from crewsite.mcp.constants import LATELY_SHOWN
from crewsite.mcp.models import ToolCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.accounts.models import User


@dataclass(frozen=True, slots=True)
class Light:
    """`state` is waiting, connected (the token was used, no tool yet) or live. `seen` changes with what is
    shown, so that a page asks for nothing it has."""

    state: str
    key: str
    call: ToolCall | None = None

    @property
    def seen(self) -> str:
        return f"{self.state}-{self.call.pk}" if self.call else self.state


def light_of(user: User, key: str) -> Light | None:
    """None for a token that is not this person's, or no more."""
    token = ApiToken.objects.filter(user=user, token_key=key).first()
    if token is None:
        return None
    call = ToolCall.objects.filter(token=token).first()
    state = "live" if call else "connected" if token.last_used_at else "waiting"
    return Light(state, key, call)


def tokens_of(user: User) -> Sequence[ApiToken]:
    """Those that still open something, newest first."""
    live = ApiToken.objects.filter(user=user, expiry__gt=timezone.now())
    return list(live.select_related("workspace").order_by("-created"))


def calls_lately(user: User) -> Sequence[ToolCall]:
    return list(ToolCall.objects.filter(user=user).select_related("workspace")[:LATELY_SHOWN])


def free_token_name(user: User, wanted: str) -> str:
    """The name, or the first of name 2, name 3 ... that is not taken."""
    taken = set(ApiToken.objects.filter(user=user, name__startswith=wanted).values_list("name", flat=True))
    numbered = (f"{wanted} {number}" for number in range(2, len(taken) + 3))
    return next(name for name in (wanted, *numbered) if name not in taken)
