"""The audit trail: written with the change or not at all, bounded, and honest about what it dropped."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from crewsite.security import events
from crewsite.security.events import event_record, events_prune
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Origin, Source, Surface

HOME = 7
CONVERSATION = UUID(int=5)
ORIGIN = Origin(source=Source.API, surface=Surface.MCP, actor="ana", conversation_id=CONVERSATION)


def fill(count: int, home_id: int = HOME) -> None:
    rows = (
        MemoryEvent(home_id=home_id, event="create", memory_type="semantic", reason="old")
        for _ in range(count)
    )
    MemoryEvent.objects.bulk_create(rows, batch_size=2_000)


def record(home_id: int = HOME, **fields: object) -> MemoryEvent:
    values = {"event": "create", "memory_type": "episodic", "origin": ORIGIN, **fields}
    return event_record(home_id=home_id, **values)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    events._counted.clear()


@pytest.mark.django_db
def test_an_event_keeps_who_did_what_to_which_row() -> None:
    row = record(object_id=3, old={"b": 1, "a": "é"}, new="vim", reason="x" * 300)
    row.refresh_from_db()
    assert (row.object_id, row.old_value, row.new_value) == (3, '{"a": "é", "b": 1}', "vim")
    assert (row.source, row.surface, row.actor, row.conversation_id) == ("api", "mcp", "ana", CONVERSATION)
    assert len(row.reason) == 200


@pytest.mark.django_db
def test_text_no_database_takes_is_cleaned() -> None:
    row = record(old="a\x00b", new="c\ud800d", reason="e\x1bf")
    row.refresh_from_db()
    assert (row.old_value, row.new_value, row.reason) == ("ab", "cd", "e f")


@pytest.mark.django_db(transaction=True)
def test_an_event_goes_with_the_write_it_belongs_to() -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        record()
        1 / 0  # noqa: B018
    assert not MemoryEvent.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_10600_events_leave_at_most_10500_and_the_newest() -> None:
    fill(10_450)
    newest = [record(reason=f"write {n}").pk for n in range(150)]
    kept = MemoryEvent.objects.in_home(HOME)
    assert 10_000 <= kept.count() <= 10_500
    assert set(newest) <= set(kept.values_list("id", flat=True))
    drop = kept.get(event=MemoryEvent.Event.EVENTS_DROPPED)
    assert int(drop.new_value) == 10_601 - kept.count()


@pytest.mark.django_db(transaction=True)
def test_no_write_ever_leaves_more_than_the_ceiling() -> None:
    fill(10_480)
    for _ in range(60):
        record()
        assert MemoryEvent.objects.in_home(HOME).count() <= 10_500


@pytest.mark.django_db(transaction=True)
def test_the_write_that_passes_10500_drops_the_oldest_and_none_before_it_does() -> None:
    fill(10_430)
    kept = MemoryEvent.objects.in_home(HOME)
    for _ in range(70):
        record()
    assert kept.count() == 10_500
    record()
    assert kept.count() == 10_000


@pytest.mark.django_db(transaction=True)
def test_many_events_of_one_transaction_are_trimmed_once() -> None:
    fill(10_400)
    with transaction.atomic():
        for _ in range(300):
            record()
    kept = MemoryEvent.objects.in_home(HOME)
    assert kept.count() == 10_000
    assert kept.filter(event="events_dropped").count() == 1


@pytest.mark.django_db(transaction=True)
def test_another_home_keeps_its_events() -> None:
    fill(50, home_id=8)
    fill(10_500)
    record()
    assert MemoryEvent.objects.in_home(8).count() == 50
    assert MemoryEvent.objects.in_home(HOME).count() == 10_000


@pytest.mark.django_db(transaction=True)
def test_a_write_far_from_the_ceiling_costs_one_insert() -> None:
    record()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        record()
    statements = [
        query["sql"]
        for query in queries
        if not query["sql"].startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE"))
    ]
    assert len(statements) == 1
    assert statements[0].startswith("INSERT")


@pytest.mark.django_db(transaction=True)
def test_writers_of_other_processes_are_seen_before_the_ceiling() -> None:
    record()
    fill(10_499)
    record()
    assert MemoryEvent.objects.in_home(HOME).count() == 10_000


@pytest.mark.django_db
def test_the_daily_prune_cuts_every_full_home_and_says_how_much() -> None:
    fill(10_003)
    fill(10_001, home_id=8)
    fill(9, home_id=9)
    assert events_prune() == 4 + 2
    assert [MemoryEvent.objects.in_home(home).count() for home in (HOME, 8, 9)] == [10_000, 10_000, 9]
    assert events_prune() == 0
