"""Where a row came from, what stands before and after it, and into which conversations it went."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crewsite.chat.models import Turn, TurnInjection
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Origin, Source, Surface
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_edit, lesson_restore, lesson_write
from memory.explain import memory_explain
from memory.layers import layer_of, memory_layers, row_cited
from memory.models import ConsolidationReceipt, PreferencesDocument
from memory.services import document_replace, episodic_write, history_append, memory_restore, semantic_write
from tests.factories import CONSOLIDATION, EXPLICIT, make_conversation, make_message

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Conversation

pytestmark = pytest.mark.django_db


def fact(home: Workspace, value: Any, **fields: Any) -> Any:
    return semantic_write(
        **{"home": home, "key": "pref.editor", "value": value, "origin": EXPLICIT, **fields}
    ).row


def inject(conversation: Conversation, row: Any, *, kind: str, at: dt.datetime) -> None:
    message = make_message(conversation)
    turn = Turn.objects.create(
        conversation=conversation, user_message=message, client_key=str(message.pk), created_at=at
    )
    TurnInjection.objects.create(turn=turn, kind=kind, object_id=row.pk, rank=0, score=0.5)


def explain(citation: str, home: Workspace, viewer: User | None = None) -> Any:
    found = row_cited(home, citation)
    assert found is not None
    layer, row = found
    return memory_explain(layer=layer, row=row, viewer=viewer)


def test_a_fact_names_its_conversation_door_author_and_what_it_replaced(home: Workspace, alice: User) -> None:
    talk = make_conversation(alice, home, title="Editors")
    old = fact(home, "vim", origin=CONSOLIDATION)
    origin = Origin(Source.USER_EXPLICIT, Surface.WEB, "alice", talk.pk)
    fact(home, "emacs", origin=origin, author=alice)
    new, before = explain("sem:pref.editor", home), explain(f"sem:{old.pk}", home)
    assert (new.state, new.source, new.surface, new.author) == ("in force", "user_explicit", "web", "alice")
    assert new.conversation.title == "Editors"
    assert [ref.citation for ref in new.replaces] == [f"sem:{old.pk}"]
    assert (before.state, [ref.citation for ref in before.replaced_by]) == ("superseded", ["sem:pref.editor"])
    assert [event.event for event in new.events] == ["update"]


def test_the_last_injections_name_their_conversations_newest_first(
    home: Workspace, alice: User, now: dt.datetime
) -> None:
    row = fact(home, "vim")
    first, last = (make_conversation(alice, home, title=title) for title in ("first", "last"))
    inject(first, row, kind="semantic", at=now)
    inject(last, row, kind="semantic", at=now + dt.timedelta(hours=1))
    told = explain("sem:pref.editor", home)
    assert [one.conversation.title for one in told.injections] == ["last", "first"]


def test_titles_of_other_peoples_conversations_stay_with_them(
    home: Workspace, alice: User, bob: User, now: dt.datetime
) -> None:
    talk = make_conversation(alice, home, title="Salary")
    row = fact(home, "vim", origin=Origin(Source.USER_EXPLICIT, Surface.WEB, "alice", talk.pk))
    inject(talk, row, kind="semantic", at=now)
    mine, his = explain("sem:pref.editor", home, alice), explain("sem:pref.editor", home, bob)
    assert (mine.conversation.title, mine.injections[0].conversation.title) == ("Salary", "Salary")
    assert (his.conversation.title, his.injections[0].conversation.title) == ("", "")


def test_each_wording_of_an_edited_lesson_has_its_own_author_injections_and_events(
    home: Workspace, alice: User, bob: User
) -> None:
    hour = dt.timedelta(hours=1)
    talk = make_conversation(alice, home)
    web, admin = (
        Origin(Source.USER_EXPLICIT, surface, name)
        for surface, name in ((Surface.WEB, "alice"), (Surface.ADMIN, "bob"))
    )
    row = lesson_write(home=home, rule="always use pytest", origin=web, author=alice).row
    assert row is not None
    inject(talk, row, kind="lesson", at=row.valid_from)
    lesson_edit(row=row, rule="always use pytest with -q", origin=admin, author=bob)
    old = Lesson.all_objects.deleted().get()
    now, before = explain(f"les:{row.pk}", home), explain(f"les:{old.pk}", home)
    assert (now.author, now.surface, now.injections) == ("bob", "admin", ())
    assert [event.reason for event in now.events] == ["edited"]
    assert (before.author, before.surface, len(before.injections)) == ("alice", "web", 1)
    assert [event.event for event in before.events] == ["create"]
    inject(talk, row, kind="lesson", at=Lesson.objects.get().valid_from + hour)
    assert len(explain(f"les:{row.pk}", home).injections) == 1
    assert len(explain(f"les:{old.pk}", home).injections) == 1
    lesson_restore(row=old, origin=admin)
    assert len(explain(f"les:{old.pk}", home).injections) == 1


def test_a_lesson_that_was_deleted_and_restored_keeps_its_injections(home: Workspace, alice: User) -> None:
    row = lesson_write(home=home, rule="always use pytest", origin=EXPLICIT).row
    assert row is not None
    inject(make_conversation(alice, home), row, kind="lesson", at=row.valid_from)
    lesson_delete(row=row, origin=EXPLICIT)
    lesson_restore(row=row, origin=EXPLICIT)
    told = explain(f"les:{row.pk}", home)
    assert len(told.injections) == 1
    assert [event.event for event in told.events] == ["restore", "delete", "create"]


def test_every_layer_explains_its_rows(home: Workspace, now: dt.datetime) -> None:
    fact(home, "vim")
    episode = episodic_write(home=home, text="The team meets on Monday.", origin=CONSOLIDATION).row
    lesson = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    document_replace(model=PreferencesDocument, workspace=home, text="- tea", origin=EXPLICIT)
    document_replace(model=PreferencesDocument, workspace=home, text="- coffee", origin=EXPLICIT)
    entry = history_append(workspace=home, title="Talk", text="We met.", at=now, origin=CONSOLIDATION).row
    assert episode and lesson and entry
    citations = [
        "doc:preferences",
        "doc:preferences:1",
        f"his:{entry.pk}",
        "sem:pref.editor",
        f"epi:{episode.pk}",
        f"les:{lesson.pk}",
    ]
    assert [explain(citation, home).citation for citation in citations] == citations
    assert explain("doc:preferences:1", home).state == "replaced"
    assert explain("doc:preferences", home).replaces[0].citation == "doc:preferences:1"
    assert explain(f"his:{entry.pk}", home).source == "consolidation"


@pytest.mark.parametrize(
    "citation", ["sem:pref.nothing", "epi:0", "les:x", "doc:preferences:9", "doc:prefs", "zzz:1", "sem:", ""]
)
def test_what_does_not_exist_is_not_found(home: Workspace, citation: str) -> None:
    assert row_cited(home, citation) is None


def test_another_homes_rows_do_not_exist_here(home: Workspace, other_home: Workspace) -> None:
    row = fact(other_home, "vim")
    assert row_cited(home, "sem:pref.editor") is None
    assert row_cited(home, f"sem:{row.pk}") is None
    assert not any(layer.rows(home).filter(pk=row.pk).exists() for layer in memory_layers())


def test_a_surface_that_left_the_ring_is_left_empty(home: Workspace) -> None:
    fact(home, "vim")
    MemoryEvent.objects.all().delete()
    told = explain("sem:pref.editor", home)
    assert (told.surface, told.source) == ("", "user_explicit")


def test_explaining_takes_the_same_queries_however_long_the_story(
    home: Workspace, alice: User, now: dt.datetime
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            explain("sem:pref.editor", home)
        return len(captured)

    row = fact(home, "vim")
    inject(make_conversation(alice, home), row, kind="semantic", at=now)
    before = queries()
    for hour in range(5):
        inject(make_conversation(alice, home), row, kind="semantic", at=now + dt.timedelta(hours=hour))
    assert queries() == before


def test_history_is_not_restored_and_says_why(home: Workspace, now: dt.datetime) -> None:
    row = history_append(workspace=home, title="Talk", text="We met.", at=now, origin=CONSOLIDATION).row
    layer = layer_of("history")
    assert layer is not None
    result = layer.restore(row=row, origin=EXPLICIT)
    assert (result.outcome, bool(result.message)) == ("unchanged", True)


def test_a_refused_restore_is_audited(home: Workspace) -> None:
    old = fact(home, "vim", origin=CONSOLIDATION)
    fact(home, "emacs")
    assert memory_restore(row=old, origin=CONSOLIDATION).code == "conflict_skip"
    event = MemoryEvent.objects.filter(event="refused").get()
    assert (event.object_id, event.reason.split(":")[0]) == (old.pk, "conflict_skip")


def test_a_consolidated_row_names_the_messages_model_and_prompt_it_was_read_with(
    home: Workspace, alice: User
) -> None:
    talk = make_conversation(alice, home)
    origin = Origin(Source.CONSOLIDATION, Surface.TASK, conversation_id=talk.pk)
    row = fact(home, "vim", origin=origin)
    for first, kind in ((1, "episodic"), (31, "semantic")):
        ConsolidationReceipt.objects.create(
            workspace=home,
            conversation=talk,
            path="history",
            state="done",
            first_seq=first,
            last_seq=first + 29,
            model="small",
            prompt_version="3",
            written=[{"kind": kind, "id": row.pk, "outcome": "created"}],
        )
    (receipt,) = explain("sem:pref.editor", home).receipts
    assert receipt.described == "messages 31 to 60, by small with prompt 3"


def test_a_value_brought_back_names_the_door_it_came_back_through(home: Workspace) -> None:
    old = fact(home, "vim", origin=CONSOLIDATION)
    fact(home, "emacs")
    memory_restore(row=old, origin=Origin(Source.USER_EXPLICIT, Surface.ADMIN, "bob"))
    told = explain("sem:pref.editor", home)
    assert (told.text, told.source, told.surface, told.author) == (
        "pref.editor: vim",
        "user_explicit",
        "admin",
        "bob",
    )
