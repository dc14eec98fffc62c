"""Reading what ranking needs of many rows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from constance.test import override_config

from crewsite.search.service import Hit
from memory.constants import DECAY_PER_DAY
from memory.models import EpisodicMemory, SemanticMemory
from memory.pool import episodes_read, facts_read, rows_read

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db


def episode(home: Workspace, **fields: Any) -> EpisodicMemory:
    return EpisodicMemory.objects.create(**{"home": home, "text": "words", "source": "task", **fields})


def test_the_live_episodes_of_this_home_come_in_the_order_of_their_hits(
    home: Workspace, other_home: Workspace, now: dt.datetime
) -> None:
    first, second, deleted = episode(home), episode(home), episode(home, is_deleted=True)
    foreign = episode(other_home)
    hits = [Hit(row.pk, 0.5, 0.25, True) for row in (second, foreign, deleted, first)]
    pool = episodes_read(home, [*hits, Hit(10**12)], now)
    assert [candidate.object_id for candidate in pool] == [second.pk, first.pk]
    assert (pool[0].text, pool[0].cosine, pool[0].keyword, pool[0].all_terms) == ("words", 0.5, 0.25, True)
    assert episodes_read(home, [], now) == []


def test_age_and_decay_are_those_of_the_row(home: Workspace, now: dt.datetime) -> None:
    rows = [
        episode(home, created_at=now - dt.timedelta(days=1.5), tags=["incident"], importance=0.9),
        episode(home, created_at=now.astimezone(dt.timezone(dt.timedelta(hours=9)))),
    ]
    with override_config(EPISODIC_DECAY_BY_TAG="incident=0.01"):
        tagged, plain = episodes_read(home, [Hit(row.pk) for row in rows], now)
    assert (tagged.days_old, tagged.rate, tagged.importance) == (pytest.approx(1.5), 0.01, 0.9)
    assert (plain.days_old, plain.rate) == (pytest.approx(0.0, abs=1e-9), DECAY_PER_DAY)


@pytest.mark.parametrize("value", ["text", "1", 1, 0.5, True, [1, "a"], {"a": {"b": None}}, 'ü "quoted"'])
def test_a_fact_keeps_the_type_of_its_value(home: Workspace, value: Any) -> None:
    row = SemanticMemory.objects.create(home=home, key="pref.k", value=value, source="task")
    assert facts_read(home, [row.pk]) == {row.pk: ("pref.k", value)}


def test_rows_are_those_the_model_reads(home: Workspace, other_home: Workspace) -> None:
    row = episode(home, tags=["a"], importance=0.1)
    hidden = [episode(home, is_deleted=True), episode(other_home)]
    found = rows_read(EpisodicMemory, home, [row.pk, *(other.pk for other in hidden)])
    again = EpisodicMemory.objects.get(pk=row.pk)
    names = [field.attname for field in EpisodicMemory._meta.concrete_fields]
    assert list(found) == [row.pk]
    assert [getattr(found[row.pk], name) for name in names] == [getattr(again, name) for name in names]
    assert rows_read(EpisodicMemory, home, []) == {}
