"""`crew memory`."""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command

from crewsite.security.models import MemoryEvent
from lessons.services import lesson_delete, lesson_write
from memory.models import EpisodicMemory, PreferencesDocument, SemanticMemory
from memory.services import document_replace, episodic_delete, semantic_delete, semantic_write
from tests.factories import EXPLICIT

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db


def crew(*words: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        call_command("memory", *words, stdout=out, stderr=err)
    except SystemExit as stop:
        code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def crew_json(*words: str) -> Any:
    return json.loads(crew(*words, "--json")[1])


@pytest.fixture(autouse=True)
def default_home(home: Workspace) -> Workspace:
    return home


def test_an_episode_is_remembered_listed_shown_and_restored() -> None:
    code, out, _ = crew("remember", "Dogs descend from wolves.", "--tag", "animals", "--importance", "0.9")
    row = EpisodicMemory.objects.get()
    assert (code, out.strip()) == (0, f"stored epi:{row.pk}")
    assert (row.tags, row.importance, row.source) == (["animals"], 0.9, "user_explicit")
    assert "Dogs descend" in crew("list")[1]
    shown = crew_json("show", f"epi:{row.pk}")
    assert (shown["text"], shown["tags"], shown["is_deleted"]) == (row.text, ["animals"], False)
    episodic_delete(row=row, origin=EXPLICIT)
    assert crew_json("list") == []
    assert [one["id"] for one in crew_json("list", "--deleted")] == [f"epi:{row.pk}"]
    assert crew_json("restore", f"epi:{row.pk}")["outcome"] == "restored"
    assert EpisodicMemory.objects.count() == 1


def test_a_fact_is_remembered_and_an_old_value_restored_by_its_row_id() -> None:
    assert crew_json("remember", "vim", "--key", "pref.editor")["outcome"] == "created"
    assert crew_json("remember", "[1, 2]", "--key", "pref.editor")["outcome"] == "updated"
    assert SemanticMemory.objects.get().value == [1, 2]
    (old,) = crew_json("list", "--deleted", "--kind", "semantic")
    assert old["id"].removeprefix("sem:").isdigit()
    assert crew_json("restore", old["id"])["outcome"] == "restored"
    shown = crew_json("show", "sem:pref.editor")
    assert (shown["text"], shown["value"]) == ("pref.editor: vim", "vim")


def test_a_refusal_exits_with_1_and_its_reason_on_stderr() -> None:
    code, out, err = crew("remember", "short")
    assert (code, out) == (1, "")
    assert "text_short" in err


@pytest.mark.parametrize(
    "words",
    [["show", "epi:999"], ["show", "nonsense"], ["restore", "sem:"], ["list", "--workspace", "nowhere"]],
)
def test_what_does_not_exist_is_an_error(words: list[str]) -> None:
    with pytest.raises(CommandError, match="There is no"):
        crew(*words)


@pytest.mark.parametrize("words", [[], ["fly"], ["search"], ["list", "--limit", "0"]])
def test_bad_usage_is_refused(words: list[str]) -> None:
    with pytest.raises(CommandError):
        crew(*words)


def test_stats_and_empty_lists_read_well() -> None:
    code, out, _ = crew("stats")
    assert code == 0
    assert "episodic" in out
    assert crew_json("stats")["layers"]["episodic"] == {"live": 0, "deleted": 0, "newest": ""}
    assert "Nothing is remembered yet" in crew("list")[2]


@pytest.mark.sqlite_only
def test_search_finds_both_kinds_and_says_what_limits_it() -> None:
    crew("remember", "vim", "--key", "pref.editor")
    crew("remember", "The editor vim was installed on the laptop.")
    found = crew_json("search", "vim editor")
    assert {hit["id"].partition(":")[0] for hit in found["hits"]} == {"sem", "epi"}
    assert found["degraded"] == ["embedder_unavailable"]
    code, out, err = crew("search", "vim editor", "--limit", "1")
    assert code == 0
    assert "pref.editor" in out or "installed" in out
    assert "no search by meaning" in err
    assert "Nothing found" in crew("search", "zebra")[2]


def test_search_tells_a_changed_fact_by_its_newest_row_first(home: Workspace) -> None:
    for day in ("Monday", "Tuesday"):
        crew("remember", f"The weekly meeting is on {day}")
    new, old = EpisodicMemory.objects.order_by("-pk")
    EpisodicMemory.objects.filter(pk=new.pk).update(possibly_supersedes=old)
    found = crew_json("search", "is the weekly meeting on Monday")["hits"]
    assert [hit["id"] for hit in found] == [f"epi:{new.pk}", f"epi:{old.pk}"]


def test_a_version_is_stored_as_typed() -> None:
    assert crew("remember", "3.10", "--key", "project.python")[0] == 0
    assert SemanticMemory.objects.get().value == "3.10"


@pytest.mark.parametrize("words", [("list",), ("search", "dogs")])
def test_a_limit_beyond_every_table_lists_all(words: tuple[str, ...]) -> None:
    crew("remember", "Dogs descend from wolves.")
    code, out, _ = crew(*words, "--limit", "9" * 30)
    assert (code, "Dogs descend" in out) == (0, True)


@pytest.mark.parametrize("citation", ["epi:" + "9" * 40, "sem:" + "9" * 5_000, "epi:\udcff"])
def test_an_id_that_cannot_be_is_not_found(citation: str) -> None:
    with pytest.raises(CommandError, match="There is no"):
        crew("show", citation)


def test_a_workspace_named_in_broken_bytes_is_not_found() -> None:
    with pytest.raises(CommandError, match="There is no workspace"):
        crew("list", "--workspace", "\udcff")


def test_a_piped_table_keeps_every_id_whole(home: Workspace) -> None:
    key = "project.a_rather_long_name_for_the_staging_server"
    semantic_write(home=home, key=key, value="heron " * 40, origin=EXPLICIT)
    out = io.StringIO()
    call_command("memory", "list", stdout=out)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("id ")
    assert any(line.startswith(f"sem:{key} ") for line in lines)


def test_a_row_is_explained_with_what_it_replaced(home: Workspace) -> None:
    semantic_write(home=home, key="pref.editor", value="vim", origin=EXPLICIT)
    semantic_write(home=home, key="pref.editor", value="emacs", origin=EXPLICIT)
    told = crew_json("explain", "sem:pref.editor")
    assert (told["state"], told["surface"], told["replaces"][0]["text"]) == (
        "in force",
        "cli",
        "pref.editor: vim",
    )
    old = told["replaces"][0]["citation"]
    out = crew("explain", old)[1]
    assert "superseded" in out
    assert "sem:pref.editor" in out


def test_rows_of_every_layer_are_shown_and_restored(home: Workspace) -> None:
    lesson = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    assert lesson is not None
    lesson_delete(row=lesson, origin=EXPLICIT)
    assert crew_json("show", f"les:{lesson.pk}")["is_deleted"] is True
    assert crew_json("restore", f"les:{lesson.pk}")["outcome"] == "restored"
    for text in ("- tea", "- coffee"):
        document_replace(model=PreferencesDocument, workspace=home, text=text, origin=EXPLICIT)
    assert crew_json("show", "doc:preferences")["text"] == "- coffee"
    assert crew_json("restore", "doc:preferences:1")["id"] == "doc:preferences"
    assert crew_json("show", "doc:preferences")["text"] == "- tea"
    code, out, _ = crew("restore", "doc:preferences")
    assert (code, out.strip()) == (0, "unchanged doc:preferences: It is in force already.")


def test_the_audit_is_listed_by_row_and_event(home: Workspace) -> None:
    row = semantic_write(home=home, key="pref.editor", value="vim", origin=EXPLICIT).row
    assert row is not None
    semantic_write(home=home, key="pref.shell", value="fish", origin=EXPLICIT)
    semantic_delete(row=row, origin=EXPLICIT)
    assert [one["event"] for one in crew_json("audit")] == ["delete", "create", "create"]
    assert [one["event"] for one in crew_json("audit", f"sem:{row.pk}")] == ["delete", "create"]
    (deleted,) = crew_json("audit", "--event", "delete")
    assert (deleted["row"], deleted["id"]) == (row.pk, f"sem:{row.pk}")
    assert crew_json("show", deleted["id"])["is_deleted"] is True
    assert "delete" in crew("audit", "--limit", "1")[1]


def test_memory_is_shown_as_it_stood_on_a_day(home: Workspace, now: dt.datetime) -> None:
    for days, value in enumerate(("vim", "emacs")):
        at = now + dt.timedelta(days=days)
        semantic_write(home=home, key="pref.editor", value=value, origin=EXPLICIT, now=at)
    assert [row["text"] for row in crew_json("as-of", "2026-03-10")["rows"]] == ["pref.editor: vim"]
    assert [row["text"] for row in crew_json("as-of", "2026-03-11T12:00")["rows"]] == ["pref.editor: emacs"]
    assert "No fact and no lesson" in crew("as-of", "2026-03-09")[2]


@pytest.mark.parametrize("moment", ["yesterday", "2026-13-01", "9999-12-31", "2026-03-10T", ""])
def test_a_moment_nobody_can_read_is_refused(moment: str) -> None:
    with pytest.raises(CommandError, match="A moment reads like") as refused:
        crew("as-of", moment)
    assert refused.value.returncode == 2


def test_what_is_not_there_is_shown_as_nothing(home: Workspace) -> None:
    row = semantic_write(home=home, key="pref.editor", value="vim", origin=EXPLICIT).row
    assert row is not None
    MemoryEvent.objects.update(object_id=None)
    assert "None" not in crew("audit")[1] + crew("show", "sem:pref.editor")[1]


def test_facts_episodes_and_lessons_are_found_by_one_search_and_ranked_by_one_measure(
    home: Workspace,
) -> None:
    crew("remember", "heron", "--key", "project.staging_server")
    crew("remember", "The heron was seen at the pond.")
    lesson_write(home=home, rule="never deploy to heron on friday", origin=EXPLICIT)
    hits = crew_json("search", "heron")["hits"]
    assert {hit["id"].partition(":")[0] for hit in hits} == {"sem", "epi", "les"}
    assert {hit["score"] for hit in hits} == {0.0164}
    assert "project.staging_server: heron" in [hit["text"] for hit in hits]


def test_a_day_ends_at_the_workspaces_midnight(home: Workspace) -> None:
    home.time_zone = "America/Los_Angeles"
    home.save()
    late = dt.datetime(2026, 3, 11, 6, 30, tzinfo=dt.UTC)  # half past eleven in the evening of the 10th
    semantic_write(home=home, key="pref.editor", value="vim", origin=EXPLICIT, now=late)
    assert len(crew_json("as-of", "2026-03-10")["rows"]) == 1
    assert len(crew_json("as-of", "2026-03-10T22:00")["rows"]) == 0
