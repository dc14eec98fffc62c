"""The date links of admin's lists lead where Django's own would, by the calendar of the site."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from crewsite.accounts.services import default_workspace
from crewsite.admin_dates import hasten_date_links, periods
from crewsite.security.origin import Source
from memory.models import EpisodicMemory, HistoryEntry

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db
MOMENTS = (
    dt.datetime(2024, 12, 31, 23, 59, 59, 5, tzinfo=dt.UTC),
    dt.datetime(2025, 1, 1, 0, 0, tzinfo=dt.UTC),
    dt.datetime(2025, 3, 9, 7, 30, tzinfo=dt.UTC),
    dt.datetime(2025, 6, 30, 11, 0, tzinfo=dt.UTC),
    dt.datetime(2025, 6, 30, 9, 59, tzinfo=dt.UTC),
    dt.datetime(2026, 11, 30, 4, 0, tzinfo=dt.UTC),
)


@pytest.fixture
def episodes() -> None:
    home = default_workspace()
    EpisodicMemory.objects.bulk_create(
        EpisodicMemory(home=home, text=f"Day {number}", source=Source.IMPORT, created_at=moment)
        for number, moment in enumerate(MOMENTS)
    )


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Kolkata"])
@pytest.mark.parametrize("kind", ["year", "month", "day"])
@pytest.mark.usefixtures("episodes")
def test_the_periods_are_those_that_django_finds(zone: str, kind: str) -> None:
    rows = EpisodicMemory.objects.all()
    with timezone.override(ZoneInfo(zone)):
        known = [moment.date() for moment in rows.datetimes("created_at", kind)]  # type: ignore[arg-type]
        assert periods(rows, "created_at", kind) == known


def test_days_without_a_time_are_found_as_they_are() -> None:
    home = default_workspace()
    for day in (dt.date(2025, 5, 1), dt.date(2025, 5, 31), dt.date(2026, 1, 1)):
        HistoryEntry.objects.create(
            workspace=home, day=day, time=dt.time(9), title="A day", text="Something was done."
        )
    rows = HistoryEntry.objects.all()
    assert periods(rows, "day", "month") == [dt.date(2025, 5, 1), dt.date(2026, 1, 1)]
    assert periods(rows.filter(day__year=2025), "day", "day") == [dt.date(2025, 5, 1), dt.date(2025, 5, 31)]


@pytest.mark.usefixtures("episodes")
def test_a_list_offers_years_then_months_then_days(admin_client: Client) -> None:
    page = "/admin/memory/episodicmemory/"
    assert "created_at__year=2026" in admin_client.get(page).content.decode()
    months = admin_client.get(page, {"created_at__year": 2025}).content.decode()
    assert "created_at__month=6" in months
    assert "created_at__month=2&" not in months
    days = admin_client.get(page, {"created_at__year": 2025, "created_at__month": 6}).content.decode()
    assert "created_at__day=30" in days


def test_other_databases_do_it_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = EpisodicMemory.objects.all()
    monkeypatch.setattr("crewsite.admin_dates.connections", {"default": type("C", (), {"vendor": "other"})})
    hasten_date_links(rows)
    assert "datetimes" not in vars(rows)
