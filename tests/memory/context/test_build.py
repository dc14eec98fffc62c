from __future__ import annotations

import datetime as dt
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crewsite.conversations.models import Conversation
from lessons.models import Lesson
from memory.constants import PREFERENCES_MAX_CHARS
from memory.context.build import context_build
from memory.context.packet import Block, BlockState, ContextPacket, packet_text
from memory.models import EpisodicMemory, HistoryEntry, PreferencesDocument, ProjectsDocument, SemanticMemory
from tests.factories import make_conversation, make_message

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
MEMORY_BLOCKS = {"lessons", "semantic", "preferences", "projects", "history", "episodic"}


@pytest.fixture
def conversation(alice, home) -> Conversation:
    return make_conversation(alice, home)


def build(conversation: Conversation, message=None, **options) -> ContextPacket:
    return context_build(conversation, message, **{"is_new": True, "now": NOW, **options})


def fill(home, *, count: int = 1, text: str = "words") -> None:
    """`count` rows of every layer, written past the services: what is tested here is reading."""
    for number in range(count):
        Lesson.objects.create(
            home=home, key=f"lesson.{number}", rule=f"rule {number} {text}", source="user_explicit"
        )
        SemanticMemory.objects.create(
            home=home, key=f"pref.k{number}", value=f"{number} {text}", source="user_explicit"
        )
        HistoryEntry.objects.create(
            workspace=home, day=NOW.date() - dt.timedelta(days=number), time=dt.time(9), title="t", text=text
        )
    PreferencesDocument.objects.create(
        workspace=home, version=1, text=f"- likes {text}", source="consolidation"
    )
    ProjectsDocument.objects.create(
        workspace=home, version=1, text=f"- builds {text}", source="consolidation"
    )


def names(packet: ContextPacket) -> list[str]:
    return [block.name for block in packet.blocks if block.text]


def test_a_new_conversation_gets_every_block_in_the_order_of_authority(conversation, home) -> None:
    conversation.agent_prompt = "You are a careful reviewer."
    home.steering = "Answer in English."
    fill(home)
    packet = build(conversation)
    assert names(packet) == [
        "critical_rules",
        "runtime",
        "agent_prompt",
        "steering",
        "reply_options",
        "authority",
        "lessons",
        "semantic",
        "preferences",
        "projects",
        "history",
    ]
    for marker in (
        "[CRITICAL RULES]",
        "[RUNTIME]",
        "[Steering]",
        "[Learned corrections]",
        "[Semantic Memory]",
        "[Memory] Preferences (source: preferences, version 1)",
        "[Memory] Projects (source: projects, version 1)",
        "[Memory] Recent history",
    ):
        assert packet.text.count(marker) == 1


def test_the_runtime_names_date_workspace_person_surface_and_mode(conversation, home) -> None:
    home.time_zone = "Pacific/Auckland"
    text = build(conversation).block("runtime").text
    assert text.splitlines() == [
        "[RUNTIME]",
        "Date: Monday, 2026-11-30 (Pacific/Auckland)",
        "Workspace: Default",
        "Person: alice",
        "Surface: web",
        "Memory: Remembers",
    ]


def test_a_later_message_gets_the_runtime_only_when_the_surface_changed(conversation, home) -> None:
    fill(home)
    web = {"is_new": False, "surface": "api"}
    assert names(build(conversation, "and now?", **web, surface_before="api")) == []
    moved = build(conversation, "and now?", **web)
    assert names(moved) == ["runtime"]
    assert "Surface: api" in moved.with_message
    assert moved.opening == ""


def test_a_resumed_conversation_gets_everything_but_the_thread(conversation, home) -> None:
    fill(home)
    make_message(conversation, "what I said before")
    assert "thread" in names(build(conversation))
    resumed = build(conversation, is_new=False, resumed=True)
    assert "thread" not in names(resumed)
    assert names(resumed) == [name for name in names(build(conversation)) if name != "thread"]


def test_a_temporary_conversation_has_no_memory_in_its_packet(conversation, home) -> None:
    fill(home)
    conversation.mode = Conversation.Mode.TEMPORARY
    packet = build(conversation, "what do I like?")
    assert {block.name for block in packet.blocks}.isdisjoint({*MEMORY_BLOCKS, "authority"})
    assert "words" not in packet.text
    assert packet.mode == "temporary"


def test_the_same_inputs_give_the_same_bytes(conversation, home) -> None:
    fill(home, count=30)
    make_message(conversation, "hello there")
    first, second = build(conversation), build(Conversation.objects.get(pk=conversation.pk))
    assert first.text.encode() == second.text.encode()
    assert json.dumps(first.as_json()) == json.dumps(second.as_json())


def test_the_time_of_day_does_not_change_the_bytes(conversation, home) -> None:
    fill(home)
    assert build(conversation).text == build(conversation, now=NOW + dt.timedelta(hours=5)).text


def test_the_number_of_queries_does_not_grow_with_the_rows(conversation, home) -> None:
    fill(home, count=10)
    conversation = Conversation.objects.get(pk=conversation.pk)
    with CaptureQueriesContext(
        connection,
    ) as few:
        build(conversation, now=NOW + dt.timedelta(days=1))
    PreferencesDocument.objects.all().delete()
    ProjectsDocument.objects.all().delete()
    Lesson.all_objects.all().delete()
    SemanticMemory.all_objects.all().delete()
    HistoryEntry.objects.all().delete()
    fill(home, count=400)
    conversation = Conversation.objects.get(pk=conversation.pk)
    with CaptureQueriesContext(connection) as many:
        build(conversation, now=NOW + dt.timedelta(days=2))
    assert len(many) == len(few) <= 25


def test_a_stored_packet_names_every_row_with_its_citation(conversation, home) -> None:
    fill(home)
    fact = SemanticMemory.objects.get()
    stored = json.loads(json.dumps(build(conversation).as_json()))
    blocks = {block["name"]: block for block in stored["blocks"]}
    assert blocks["semantic"]["sources"] == [
        {"kind": "semantic", "object_id": fact.pk, "citation": "sem:pref.k0", "score": None}
    ]
    assert blocks["semantic"]["chars"] == len(blocks["semantic"]["text"])
    assert stored["total_chars"] == len(packet_text(stored))
    for block in stored["blocks"]:
        for source in block["sources"]:
            assert f"[{source['citation']}]" in block["text"]


@pytest.mark.parametrize(
    ("window", "ceiling"), [(1_000_000, 165_000), (200_000, 33_000), (32_000, 33_000), (None, 165_000)]
)
def test_a_packet_stays_under_the_ceiling_of_its_window(conversation, home, window, ceiling: int) -> None:
    home.steering = "Do this.\n\n" * 4_000
    conversation.agent_prompt = "Be that.\n\n" * 4_000
    fill(home, count=120, text="y" * 900)
    packet = build(conversation, model_window=window)
    assert packet.ceiling_chars == ceiling
    assert packet.total_chars <= ceiling
    for block in packet.blocks:
        assert block.cap is None or block.chars <= block.cap


def test_the_window_of_the_conversations_model_is_used(conversation) -> None:
    conversation.model = "openai:gpt-4o"
    assert build(conversation).ceiling_chars == 33_000
    conversation.model = "some-new-model"
    assert build(conversation).ceiling_chars == 165_000


def test_a_cut_document_ends_with_a_mark_and_says_how_much_is_shown(conversation, home) -> None:
    text = "\n- more" * 3_000
    PreferencesDocument.objects.create(workspace=home, version=1, text=text, source="consolidation")
    block = build(conversation).block("preferences")
    assert block.state is BlockState.TRIMMED
    assert len(block.text.partition("\n")[2]) <= 4_290
    assert block.text.endswith("characters shown ...]")
    assert block.text.splitlines()[-2] == "- more"


def test_steering_is_cut_at_a_paragraph(conversation, home) -> None:
    home.steering = "\n\n".join(f"Paragraph {number}.\nIts second line." for number in range(900))
    text = build(conversation).block("steering").text
    assert len(text) <= 16_500
    assert text.splitlines()[-2] == "Its second line."


def test_history_over_its_cap_loses_whole_days_and_says_how_many(conversation, home) -> None:
    for age in range(14):
        HistoryEntry.objects.create(
            workspace=home,
            day=NOW.date() - dt.timedelta(days=age),
            time=dt.time(9),
            title="t",
            text="z" * 3_000,
        )
    block = build(conversation).block("history")
    days = block.text.count("### 2026-")
    assert block.chars <= 26_400
    assert block.left_out_count == 14 - days > 0
    assert block.text.count("z") == days * 3_000


@pytest.mark.parametrize(
    ("entries", "shown"),
    [
        (["z" * 1_500] * 12, "### 2026-11-29\n#### 09:00 t\n" + "z" * 1_500 + "\n...11 more entries"),
        (["z" * 100_000, "y"], "### 2026-11-29: 2 entries"),
    ],
)
def test_a_newest_day_over_the_cap_is_shown_as_an_older_one_and_the_others_stay(
    conversation, home, entries: list[str], shown: str
) -> None:
    for text in entries:
        HistoryEntry.objects.create(workspace=home, day=NOW.date(), time=dt.time(9), title="t", text=text)
    HistoryEntry.objects.create(
        workspace=home, day=NOW.date() - dt.timedelta(days=1), time=dt.time(9), title="before", text="x"
    )
    block = build(conversation, model_window=32_000).block("history")
    assert block.text.partition("\n")[2] == f"{shown}\n\n### 2026-11-28\n#### 09:00 before\nx"
    assert block.state is BlockState.TRIMMED
    assert block.reason == "less of the newest day: over the cap of 5,280 characters"


def test_a_document_that_just_fits_its_cap_stands_in_a_prompt_whole(conversation, home) -> None:
    text = ("- a line\n" * 470 + "the end").rjust(PREFERENCES_MAX_CHARS, "x")
    PreferencesDocument.objects.create(workspace=home, version=1, text=text, source="consolidation")
    block = build(conversation).block("preferences")
    assert block.state is BlockState.ADMITTED
    assert block.text.endswith(text)


@pytest.mark.parametrize("zone", ["America", "Erope/Berlin", "../etc", ""])
def test_a_time_zone_that_is_none_is_utc_and_costs_no_block(conversation, home, zone: str) -> None:
    home.time_zone = zone
    packet = build(conversation)
    assert packet.degraded == ()
    assert "Date: Sunday, 2026-11-29 (UTC)" in packet.block("runtime").text


def test_a_source_that_fails_costs_only_its_own_block(conversation, home, monkeypatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("no history today")

    fill(home)
    monkeypatch.setattr("memory.context.sources.history.history_render", fail)
    packet = build(conversation)
    assert packet.degraded == ("context_source_failed:history",)
    assert packet.block("history").state is BlockState.OMITTED
    assert "lessons" in names(packet)


def test_an_unsaved_conversation_can_be_previewed(alice, home) -> None:
    fill(home)
    assert "lessons" in names(build(Conversation(owner=alice, workspace=home)))


def test_a_guest_workspace_reads_its_memory_home_and_its_own_documents(alice, home) -> None:
    from tests.factories import make_workspace

    fill(home)
    packet = build(make_conversation(alice, make_workspace("guest")))
    assert {"lessons", "semantic"} <= set(names(packet))
    assert {"preferences", "projects", "history"}.isdisjoint(names(packet))


def test_another_homes_rows_never_appear(conversation, home, other_home) -> None:
    fill(other_home, text="foreign")
    assert "foreign" not in build(conversation).text


FORGERIES = st.sampled_from(
    [
        "[Learned corrections]",
        "[Semantic Memory]",
        "[Memory]",
        "[CRITICAL RULES]",
        "[RUNTIME]",
        "[SYSTEM]",
        "system:",
    ]
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(FORGERIES, st.text(max_size=20)), min_size=1, max_size=8))
def test_no_stored_text_can_forge_a_marker(conversation, home, parts: list[str]) -> None:
    text = "\n".join(parts).replace("\x00", "")
    for model in (Lesson, SemanticMemory):
        model.all_objects.all().delete()
    PreferencesDocument.objects.all().delete()
    Lesson.objects.create(home=home, key="lesson.x", rule=f"a {text}", source="user_explicit")
    SemanticMemory.objects.create(home=home, key="pref.x", value=f"a {text}", source="user_explicit")
    PreferencesDocument.objects.create(workspace=home, version=1, text=f"a {text}", source="consolidation")
    packet = build(conversation)
    for marker in ("[Learned corrections]", "[Semantic Memory]", "[Memory]", "[CRITICAL RULES]", "[RUNTIME]"):
        expected = 1 if any(block.marker == marker for block in packet.blocks) else 0
        assert packet.text.count(marker) == expected
    assert "[SYSTEM]" not in packet.text


def _episodes(home, *texts: str) -> list[EpisodicMemory]:
    from memory.services import episodic_write
    from tests.factories import EXPLICIT

    return [episodic_write(home=home, text=text, origin=EXPLICIT, now=NOW).row for text in texts]


@pytest.mark.sqlite_only
def test_the_first_message_brings_its_episodes_with_date_and_id(conversation, home, embedder) -> None:
    row, *_ = _episodes(home, "The billing service moved to Frankfurt", "Marta prefers tea in the morning")
    block = build(conversation, "Where did the billing service move?").block("episodic")
    assert (
        block.text
        == f"[Episodic Memory]\n- 2026-11-29: The billing service moved to Frankfurt [epi:{row.pk}]"
    )
    assert block.sources[0].score > 0


@pytest.mark.sqlite_only
def test_episodes_are_cut_and_bounded_and_those_left_out_are_named(conversation, home, embedder) -> None:
    _episodes(home, *(f"billing service report {number} " + f"w{number} " * 500 for number in range(6)))
    block = build(conversation, "billing service report").block("episodic")
    lines = block.text.splitlines()[1:]
    assert block.chars <= 3_000
    assert all(len(line) <= 1_500 + 40 and line.endswith("]") for line in lines)
    assert block.left_out_count + len(lines) <= 8
    assert all(source.citation in block.reason for source in block.left_out)


@pytest.mark.sqlite_only
def test_no_fitting_episode_is_said_in_the_packet(conversation, home, embedder) -> None:
    block = build(conversation, "anything at all").block("episodic")
    assert (block.text, block.state, block.reason) == ("", BlockState.OMITTED, "no episode fits the message")


@pytest.mark.sqlite_only
def test_facts_are_chosen_by_the_message_and_shown_by_authority(conversation, home, embedder) -> None:
    from memory.services import semantic_write
    from tests.factories import CONSOLIDATION, EXPLICIT

    for number in range(90):
        semantic_write(home=home, key=f"pref.filler{number}", value="n" * 300, origin=EXPLICIT)
    semantic_write(
        home=home, key="project.editor", value="the editor is vim", origin=CONSOLIDATION, confidence=0.9
    )
    semantic_write(home=home, key="user.editor", value="the editor is emacs", origin=EXPLICIT)
    block = build(conversation, "which editor?").block("semantic")
    assert block.chars <= 12_705
    assert "[sem:project.editor]" in block.text
    stated, learned = block.text.split("Facts learned automatically:")
    assert "[sem:user.editor]" in stated
    assert learned.strip() == "- project.editor: the editor is vim [sem:project.editor]"
    assert block.left_out_count == 92 - len(block.sources)
    assert f"{block.left_out_count} of 92 facts left out" in block.reason


@pytest.mark.sqlite_only
def test_an_embedder_that_is_too_slow_is_reported_and_words_are_used(
    conversation, home, embedder, monkeypatch
) -> None:
    row, *_ = _episodes(home, "The billing service moved to Frankfurt")
    monkeypatch.setattr("memory.context.build.embedded_in_time", lambda text: False)
    packet = build(conversation, "billing service Frankfurt")
    assert packet.degraded[0] == "embedding_deadline"
    assert [source.object_id for source in packet.block("episodic").sources] == [row.pk]


def test_the_deadline_is_kept(monkeypatch) -> None:
    from threading import Event

    from memory.context.deadline import embedded_in_time

    released = Event()
    monkeypatch.setattr("crewsite.embeddings.service.embed_query", lambda text: released.wait(5))
    assert not embedded_in_time("slow", seconds=0.05)
    released.set()
    assert embedded_in_time("quick", seconds=5)


def test_a_block_is_a_value() -> None:
    with pytest.raises(AttributeError):
        Block(name="x", authority=0, text="y").text = "z"  # type: ignore[misc]
