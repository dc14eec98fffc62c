"""What each of the three ways of fading hides, home by home."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from constance import config
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crewsite import live
from memory.fading import fading_by_home
from memory.models import EpisodicMemory, HistoryEntry
from tests.factories import make_user, make_workspace

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db


def entries(workspace: Workspace, today: dt.date, *ages: int) -> None:
    HistoryEntry.objects.bulk_create(
        HistoryEntry(
            workspace=workspace, day=today - dt.timedelta(days=age), time=dt.time(9), title="t", text="x"
        )
        for age in ages
    )


def episodes(home: Workspace, now: dt.datetime, *ages: int, **fields: Any) -> None:
    EpisodicMemory.all_objects.bulk_create(
        EpisodicMemory(
            **{
                "home": home,
                "text": f"episode {age}",
                "folded_hash": f"{age}",
                "source": "task",
                "created_at": now - dt.timedelta(days=age),
                **fields,
            }
        )
        for age in ages
    )


def test_history_counts_what_a_prompt_no_longer_shows(home: Workspace, now: dt.datetime) -> None:
    # In full: 2. Of the three at 14 days the first is shown. At 61 and 180 only their numbers are.
    entries(home, now.date(), 0, 13, 14, 14, 14, 61, 180, 181, 364)
    (row,) = fading_by_home(now=now)
    assert (row.history, row.history_shortened, row.history_unshown) == (9, 4, 2)


def test_ages_are_those_of_each_workspaces_own_date(now: dt.datetime) -> None:
    for name, zone in (("east", "Etc/GMT-14"), ("west", "Etc/GMT+12")):
        entries(make_workspace(name, time_zone=zone, is_isolated=True), now.date(), 180)
    assert [(row.slug, row.history_unshown) for row in fading_by_home(now=now)] == [("east", 1), ("west", 0)]


def test_episodes_past_their_half_life_are_faded(home: Workspace, now: dt.datetime) -> None:
    episodes(home, now, 0, 23, 24, 400)
    (row,) = fading_by_home(now=now)
    assert (row.episodes, row.episodes_faded) == (4, 2)


def test_a_tags_rate_moves_the_half_life(home: Workspace, now: dt.datetime) -> None:
    config.EPISODIC_DECAY_BY_TAG = "incident=0.001, standup=0.5"
    live.forget()
    episodes(home, now, 24, 25)
    episodes(home, now, 100, tags=["incident"])
    episodes(home, now, 2, 1, tags=["standup"])
    assert fading_by_home(now=now)[0].episodes_faded == 3


def test_what_went_over_the_cap_and_what_goes_next(home: Workspace, now: dt.datetime) -> None:
    config.EPISODIC_MAX_ROWS = 2
    live.forget()
    episodes(home, now, 0, 1)
    episodes(home, now, 5, is_deleted=True, deleted_reason="capacity")
    episodes(home, now, 6, is_deleted=True, deleted_reason="deleted")
    (row,) = fading_by_home(now=now)
    assert (row.evicted, row.over_cap) == (1, 1)


def test_a_home_where_nothing_can_fade_is_left_out(home: Workspace, now: dt.datetime) -> None:
    assert fading_by_home(now=now) == []


def test_the_queries_are_as_many_for_many_homes(
    home: Workspace, now: dt.datetime, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        other = make_workspace(f"w{number}", is_isolated=True)
        entries(other, now.date(), *range(20))
        episodes(other, now, *range(20))
    fading_by_home(now=now)
    with django_assert_max_num_queries(6):  # three reads, and live settings when they are due
        assert len(fading_by_home(now=now)) == 5


def test_the_admins_first_page_shows_it(home: Workspace) -> None:
    episodes(home, timezone.now(), 100)
    client = Client()
    client.force_login(make_user("operator", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:index")).content.decode()
    assert "Fading today" in page
    assert "<td>1 of 1</td>" in page
