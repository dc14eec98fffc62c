"""What models were used for: one row a day, model and purpose, and what a call costs where its price is
public."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import DatabaseError, connection
from django.db.models import Sum
from django.utils import timezone

from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.llm.models import ModelUsage
from crewsite.llm.targets import OWN_URLS, Target

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)

_ADDED: Final = (
    "calls", "failures", "input_tokens", "output_tokens", "seconds", "cost_usd", "unpriced_calls",
)  # fmt: skip
# At the end of every call; the ORM would need three statements, and longer to build one than it runs.
_ADD: Final = (
    f"INSERT INTO llm_modelusage AS known (day, model, purpose, {', '.join(_ADDED)})"  # noqa: S608
    f" VALUES (%s, %s, %s, {', '.join(['%s'] * len(_ADDED))}) ON CONFLICT (day, model, purpose)"
    f" DO UPDATE SET {', '.join(f'{name} = known.{name} + excluded.{name}' for name in _ADDED)}"
)


def usage_record(
    *,
    model: str,
    purpose: str,
    seconds: float,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cost_usd: float | None = None,
    failed: bool = False,
    now: datetime | None = None,
) -> None:
    """Add one call to its day. A failed call counts as such; tokens it may have used are unknown. What cannot
    be written, as under maintenance, is left out: the call itself must not suffer."""
    day = (now or timezone.now()).date()
    unpriced = int(cost_usd is None and not failed)
    spent = [input_tokens, output_tokens, seconds, cost_usd or 0.0]
    try:
        with connection.cursor() as cursor:
            cursor.execute(_ADD, [day.isoformat(), model[:200], purpose, 1, int(failed), *spent, unpriced])
    except (MaintenanceInProgress, DatabaseError) as error:
        logger.warning("The use of %s could not be noted: %s", model, error)


def price_of(target: Target, usage: Mapping[str, Any]) -> float | None:
    """US dollars by the public price list, for the makers' own addresses only: what another endpoint charges
    under the same name is not known."""
    if target.provider == "llama":
        return 0.0
    if target.base_url != OWN_URLS.get(target.provider):
        return None
    from genai_prices import Usage, calc_price

    counted = Usage(
        input_tokens=usage.get("input_tokens") or 0,
        cache_read_tokens=usage.get("cached_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
    )
    try:
        return float(calc_price(counted, target.model, provider_id=target.provider).total_price)
    except (LookupError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class DayOfUse:
    """One day's sum over all models. `cost_usd` is None where no call of the day has a known price."""

    day: date
    calls: int
    failures: int
    input_tokens: int
    output_tokens: int
    seconds: float
    cost_usd: float | None
    is_partly_priced: bool


def usage_by_day(*, days: int, now: datetime | None = None) -> list[DayOfUse]:
    """The newest day first; days without a call are left out."""
    since = (now or timezone.now()).date() - timedelta(days=days - 1)
    rows = ModelUsage.objects.filter(day__gte=since).order_by().values("day")
    return [_day(row) for row in rows.annotate(**{f"all_{n}": Sum(n) for n in _ADDED}).order_by("-day")]


def _day(row: Mapping[str, Any]) -> DayOfUse:
    answered = row["all_calls"] - row["all_failures"]
    priced = answered - row["all_unpriced_calls"]
    return DayOfUse(
        day=row["day"],
        calls=row["all_calls"],
        failures=row["all_failures"],
        input_tokens=row["all_input_tokens"],
        output_tokens=row["all_output_tokens"],
        seconds=row["all_seconds"],
        cost_usd=row["all_cost_usd"] if priced > 0 else None,
        is_partly_priced=priced > 0 and row["all_unpriced_calls"] > 0,
    )
