"""Reading what ranking needs of many rows."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from constance.test import override_config

from crewsite.search.service import Candidates, Hit
from memory.constants import DECAY_PER_DAY
from memory.models import EpisodicMemory, SemanticMemory
from memory.pool import decoded, facts_read, pool_read, rows_read
from tests.factories import make_conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace

pytestmark = pytest.mark.django_db


def episode(home: Workspace, **fields: Any) -> EpisodicMemory:
    return EpisodicMemory.objects.create(**{"home": home, "text": "words", "source": "task", **fields})


def found(*rows: EpisodicMemory, cosine: float | None = 0.5) -> Candidates:
    return Candidates(tuple(Hit(row.pk, cosine) for row in rows))


def test_only_live_episodes_of_this_home_are_in_the_pool(
    home: Workspace, other_home: Workspace, now: dt.datetime
) -> None:
    first, second, deleted = episode(home), episode(home), episode(home, is_deleted=True)
    pool = pool_read(home, found(second, episode(other_home), deleted, first), query="words", now=now)
    assert sorted(pool.ids.tolist()) == [first.pk, second.pk]
    assert (pool.cosine.tolist(), pool.text.tolist()) == ([0.5, 0.5], ["words", "words"])
    assert np.isnan(pool_read(home, found(first, cosine=None), query="", now=now).cosine).all()
    assert len(pool_read(home, found(), query="words", now=now)) == 0


def test_what_may_replace_a_row_comes_with_it_past_rows_that_are_deleted(
    home: Workspace, now: dt.datetime
) -> None:
    first = episode(home)
    second = episode(home, possibly_supersedes=first, is_deleted=True)
    third = episode(home, possibly_supersedes=second)
    fourth = episode(home, possibly_supersedes=third)
    pool = pool_read(home, found(first), query="words", now=now)
    told = dict(zip(pool.ids.tolist(), pool.supersedes.tolist(), strict=True))
    assert told == {first.pk: 0, third.pk: first.pk, fourth.pk: third.pk}


def test_age_and_decay_are_those_of_the_row(home: Workspace, now: dt.datetime) -> None:
    rows = [
        episode(home, created_at=now - dt.timedelta(days=1.5), tags=["incident"], importance=0.9),
        episode(home, created_at=now.astimezone(dt.timezone(dt.timedelta(hours=9)))),
    ]
    with override_config(EPISODIC_DECAY_BY_TAG="incident=0.01"):
        pool = pool_read(home, found(*rows), query="", now=now)
    assert pool.days_old.tolist() == [pytest.approx(1.5), pytest.approx(0.0, abs=1e-9)]
    assert (pool.rate.tolist(), pool.importance.tolist()) == ([0.01, DECAY_PER_DAY], [0.9, 0.5])


def test_a_rate_that_is_no_finite_number_is_left_out(home: Workspace, now: dt.datetime) -> None:
    rows = [episode(home, created_at=now, tags=[tag]) for tag in ("endless", "odd", "slow")]
    with override_config(EPISODIC_DECAY_BY_TAG="endless=inf, odd=nan, slow=0.01"):
        pool = pool_read(home, found(*rows), query="", now=now)
    assert pool.rate.tolist() == [DECAY_PER_DAY, DECAY_PER_DAY, 0.01]


def test_rows_of_one_conversation_share_a_number_and_name_their_speaker(
    home: Workspace, alice: User, now: dt.datetime
) -> None:
    conversation = make_conversation(alice, home)
    rows = [
        episode(home, text="Mel: I like tea", conversation=conversation),
        episode(home, text="Jo: me too", conversation=conversation),
        episode(home, created_at=dt.datetime(2023, 5, 8, tzinfo=dt.UTC)),
        episode(home),
    ]
    pool = pool_read(home, found(*rows), query="what does Mel like on May 7th 2023?", now=now)
    first, second, third, fourth = pool.session.tolist()
    assert first == second
    assert len({first, third, fourth}) == 3
    assert pool.named.tolist() == [True, False, False, False]
    assert pool.dated.tolist() == [False, False, True, False]


@pytest.mark.parametrize("value", ["text", "1", 1, 0.5, True, [1, "a"], {"a": {"b": None}}, 'ü "quoted"'])
def test_a_fact_keeps_the_type_of_its_value(home: Workspace, value: Any) -> None:
    row = SemanticMemory.objects.create(home=home, key="pref.k", value=value, source="task")
    [(key, stored)] = facts_read(home, [row.pk]).values()
    assert (key, decoded(stored)) == ("pref.k", value)


def test_rows_are_those_the_model_reads(home: Workspace, other_home: Workspace) -> None:
    row = episode(home, tags=["a"], importance=0.1)
    hidden = [episode(home, is_deleted=True), episode(other_home)]
    found = rows_read(EpisodicMemory, home, [row.pk, *(other.pk for other in hidden)])
    again = EpisodicMemory.objects.get(pk=row.pk)
    names = [field.attname for field in EpisodicMemory._meta.concrete_fields]
    assert list(found) == [row.pk]
    assert [getattr(found[row.pk], name) for name in names] == [getattr(again, name) for name in names]
    assert rows_read(EpisodicMemory, home, []) == {}
