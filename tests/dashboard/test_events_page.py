"""The audit trail as a page: filters, cursor, diffs, exports, and what a shared home keeps to itself."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from crewsite.accounts.models import Role, User, Workspace
from crewsite.dashboard.events import EVENTS_A_PAGE
from crewsite.security.models import MemoryEvent
from tests.dashboard.test_memory_pages import HX, body, fact, url
from tests.dashboard.test_pages import HOSTILE, read, signed_in
from tests.factories import make_member, make_workspace

pytestmark = pytest.mark.django_db


def event(home: Workspace, **given: Any) -> MemoryEvent:
    fields = {
        "event": "create",
        "memory_type": "semantic",
        "source": "user_explicit",
        "actor": "bob",
        **given,
    }
    return MemoryEvent.objects.create(home_id=home.pk, **fields)


@pytest.mark.parametrize(
    ("asked", "seen"),
    [
        ({"event": "refused"}, {"two"}),
        ({"layer": "lesson"}, {"three"}),
        ({"source": "consolidation"}, {"two"}),
        ({"actor": "bob"}, {"one", "three"}),
        ({"q": "TWO"}, {"two"}),
        ({"row": "7"}, {"three"}),
        ({"since": "2026-03-02", "until": "2026-03-02"}, {"two"}),
        (
            {"event": "no such event", "since": "yesterday", "row": "x", "until": "9999-12-31"},
            {"one", "two", "three"},
        ),
    ],
)
def test_filters_narrow_and_unknown_values_do_not(
    bob: User, home: Workspace, asked: dict[str, str], seen: set[str]
) -> None:
    at = [datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3)]
    event(home, new_value="text one", at=at[0])
    event(home, new_value="text two", event="refused", source="consolidation", actor="", at=at[1])
    event(home, new_value="text three", memory_type="lesson", object_id=7, at=at[2])
    page = body(signed_in(bob).get(url("events"), asked))
    assert {word for word in ("one", "two", "three") if f"text {word}" in page} == seen


def test_a_day_is_that_of_the_workspace(bob: User, home: Workspace) -> None:
    Workspace.objects.filter(pk=home.pk).update(time_zone="America/Los_Angeles")
    event(home, new_value="late in the evening", at=datetime(2026, 3, 3, 6, tzinfo=UTC))
    client = signed_in(bob)
    asked = {"since": "2026-03-02", "until": "2026-03-02"}
    assert "late in the evening" in body(client.get(url("events"), asked))
    assert "late in the evening" not in body(client.get(url("events"), {"since": "2026-03-03"}))


def test_the_cursor_walks_through_all_without_gap_or_repeat(bob: User, home: Workspace) -> None:
    count = 2 * EVENTS_A_PAGE + 5
    for index in range(count):
        event(home, new_value=f"number {index:03}.")
    client, before, seen = signed_in(bob), "", []
    for _ in range(3):
        response = client.get(url("events"), {"before": before} if before else {}, headers=HX)
        seen += [line.event.new_value for line in response.context["lines"]]
        event(home, new_value="newer meanwhile")
        before = str(response.context["more"])
    assert before == "0"
    assert seen == [f"number {index:03}." for index in reversed(range(count))]


def test_an_event_shows_what_changed(bob: User, home: Workspace) -> None:
    old, new = json.dumps({"text": "a", "importance": 0.5}), json.dumps({"text": "b", "importance": 0.5})
    event(home, event="update", old_value=old, new_value=new)
    page = body(signed_in(bob).get(url("events")))
    assert "diff-removed" in page
    assert "diff-added" in page
    assert "diff-same" in page


def test_the_page_asks_the_same_number_of_queries_for_any_number_of_events(
    bob: User, home: Workspace, django_assert_max_num_queries: Any
) -> None:
    for index in range(EVENTS_A_PAGE):
        event(home, new_value=str(index))
    client = signed_in(bob)
    client.get(url("events"))
    with django_assert_max_num_queries(10):
        client.get(url("events"))


def test_owners_export_what_the_filters_show_and_no_cell_is_a_formula(alice: User, home: Workspace) -> None:
    event(home, new_value="=HYPERLINK(1)", reason="+1", actor="@x")
    event(home, new_value="left out", memory_type="lesson")
    client = signed_in(alice)
    response = client.get(url("events_export", "csv"), {"layer": "semantic"})
    assert "attachment" in response["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(body(response))))
    assert len(rows) == 1
    assert (rows[0]["new_value"], rows[0]["reason"], rows[0]["actor"]) == ("'=HYPERLINK(1)", "'+1", "'@x")
    exported = json.loads(client.get(url("events_export", "json"), {"layer": "semantic"}).content)
    assert [row["new_value"] for row in exported] == ["=HYPERLINK(1)"]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_members_may_read_events_and_not_take_them_away(bob: User, home: Workspace, form: str) -> None:
    client = signed_in(bob)
    assert client.get(url("events_export", form)).status_code == 403
    assert "/export." not in body(client.get(url("events")))


def test_a_shared_home_keeps_its_own_layers_to_itself(charlie: User, home: Workspace) -> None:
    guest = make_workspace("guest", memory_home=home)
    make_member(charlie, guest, Role.OWNER)
    event(home, new_value="a shared fact")
    event(home, new_value="preferences of the home", memory_type="preferences", event="refused")
    event(home, new_value="instructions of the home", memory_type="steering")
    event(guest, new_value="preferences of the guest", memory_type="preferences")
    client = signed_in(charlie)
    page = body(client.get(url("events")))
    assert "a shared fact" in page
    assert "preferences of the guest" in page
    assert "preferences of the home" not in page
    assert "instructions of the home" not in page
    assert "preferences of the home" not in body(client.get(url("home")))
    assert client.get(url("events_export", "json")).status_code == 403


def test_stored_text_is_inert_among_the_events(bob: User, home: Workspace) -> None:
    event(home, new_value=HOSTILE, old_value=HOSTILE + "x", reason=HOSTILE[:100], actor=HOSTILE[:100])
    response = signed_in(bob).get(url("events"))
    assert read(response).inline == []
    assert "<img src=x" not in body(response)


def test_an_event_names_its_row_in_the_words_of_the_tabs_and_leads_there(
    alice: User, home: Workspace
) -> None:
    row = fact(home, "pref.editor", "Helix")
    page = body(signed_in(alice).get(url("events")))
    assert f'<a href="{url("row", "facts", row.pk)}">fact <span class="num">#{row.pk}</span></a>' in page
    assert "<code>pref.editor</code>" in page
    assert '<option value="semantic">Facts</option>' in page
    assert '<option value="episodic">Episodes</option>' in page
