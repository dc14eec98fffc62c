"""What holds for any data and any question in layers 4 to 6: isolation, order, tombstones, batches, budgets.

Lessons stand to the right of memory, and take part here because a reader asks all three layers at once.
"""

from __future__ import annotations

import datetime as dt
import itertools
from typing import TYPE_CHECKING, Any, get_args

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crewsite.embeddings.service import embed_document
from crewsite.search.collections import collection_name
from crewsite.search.recall import search_all
from crewsite.search.service import document_put
from lessons.models import Lesson
from lessons.selectors import lesson_search
from lessons.services import lesson_delete, lesson_write
from memory.context.build import context_build
from memory.models import EpisodicMemory, SemanticMemory
from memory.selectors import Mode, episodic_search, semantic_search
from memory.services import (
    EpisodicDraft,
    episodic_delete,
    episodic_write,
    episodic_write_many,
    semantic_delete,
    semantic_write,
)
from tests.factories import CONSOLIDATION, EXPLICIT, make_conversation, make_workspace
from tests.memory.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.accounts.models import User, Workspace
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]

MODES = get_args(Mode)
WORDS = st.sampled_from(
    [
        *("archive", "key", "cabinet", "server", "deploy", "Müller", "ZX81-QT", "the", "of", "not", "7"),
        *("即适者生存", "会議", "서울에서", "use", "tabs", "dark", "mode", "for"),
    ]
)
PHRASES = st.lists(WORDS, min_size=3, max_size=7).map(" ".join)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates and NUL included
SYNTAX = st.lists(
    st.sampled_from(
        ['"', "(", ")", "*", "^", ":", "-", "+", "AND", "OR", "NOT", "NEAR(", "{", "}", "text", "'"]
    ),
    max_size=12,
).map(" ".join)
QUESTIONS = st.one_of(ANYTHING, SYNTAX, PHRASES)
_numbers = itertools.count()


def examples(number: int) -> Any:
    shared = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(
        max_examples=number,
        deadline=None,
        suppress_health_check=shared,
    )


def fresh_home() -> Workspace:
    """Examples of one test share a database; each gets a home of its own."""
    return make_workspace(f"home-{next(_numbers)}", is_isolated=True)


def fill(home: Workspace, phrases: Sequence[str], *, mark: str = "") -> None:
    for number, phrase in enumerate(phrases):
        text = f"{phrase} {mark}"
        episodic_write(home=home, text=f"{text} {number}", origin=CONSOLIDATION)
        semantic_write(home=home, key=f"user.k{number}", value=text, origin=EXPLICIT)
        lesson_write(home=home, rule=text, origin=EXPLICIT)


def answers(home: Workspace, query: str) -> list[tuple[str, int]]:
    """Kind and id of everything that any way of asking brings up."""
    found: list[tuple[str, int]] = []
    for mode in MODES:
        for wanted in (False, True):
            hits = episodic_search(home=home, query=query, mode=mode, limit=50, relevance_filter=wanted).hits
            found += [("episodic", hit.row.pk) for hit in hits]
        found += [("semantic", hit.row.pk) for hit in semantic_search(home=home, query=query, mode=mode).hits]
    found += [("lesson", hit.row.pk) for hit in lesson_search(home=home, query=query)]
    found += [(hit.kind, hit.object_id) for hit in search_all(query=query, workspace=home).hits]
    return found


def rows_of(home: Workspace) -> set[tuple[str, int]]:
    kinds: list[tuple[str, Any]] = [
        ("episodic", EpisodicMemory),
        ("semantic", SemanticMemory),
        ("lesson", Lesson),
    ]
    return {
        (kind, pk)
        for kind, model in kinds
        for pk in model.objects.filter(home=home).values_list("pk", flat=True)
    }


@examples(6)
@given(
    ours=st.lists(PHRASES, max_size=4),
    theirs=st.lists(PHRASES, max_size=4),
    asked=st.lists(QUESTIONS, max_size=2),
)
def test_no_question_reaches_another_home(
    ours: list[str], theirs: list[str], asked: list[str], embedder: FakeEmbedder, alice: User
) -> None:
    here, there = fresh_home(), fresh_home()
    fill(here, ours, mark="azure")
    fill(there, theirs, mark="crimson")
    own = rows_of(here)
    for query in [*asked, *theirs[:1], "crimson"]:
        assert set(answers(here, query)) <= own
        packet = context_build(make_conversation(alice, here), query, is_new=True, now=NOW)
        assert "crimson" not in packet.text.replace(query, "")
        assert {
            (source.kind, source.object_id) for source in packet.sources if source.kind in dict(own)
        } <= own


@examples(12)
@given(
    texts=st.lists(PHRASES, min_size=2, max_size=8, unique=True),
    query=PHRASES,
    mode=st.sampled_from(MODES),
    random=st.randoms(use_true_random=False),
)
def test_the_order_of_writing_does_not_order_the_answer(
    texts: list[str], query: str, mode: Mode, random: Any, embedder: FakeEmbedder
) -> None:
    """Each row has its own date, so that no two rows tie but by it."""
    rows = [
        (f"{text} row{number}", NOW - dt.timedelta(days=number * 40)) for number, text in enumerate(texts)
    ]
    shuffled = random.sample(rows, k=len(rows))
    found = []
    for written in (rows, shuffled):
        home = fresh_home()
        for text, at in written:
            put_with_vector(home, text, at)
        hits = episodic_search(home=home, query=query, mode=mode, limit=4, now=NOW).hits
        found.append([(hit.row.text, pytest.approx(hit.score)) for hit in hits])
    assert found[0] == found[1]


def put_with_vector(home: Workspace, text: str, at: dt.datetime) -> None:
    """Written unseen by the duplicate gate, whose answer may depend on what came first."""
    row = episodic_write(home=home, text=text, origin=CONSOLIDATION, created_at=at, defer_embedding=True).row
    assert row is not None
    collection = collection_name("episodic", home.pk)
    document_put(collection=collection, object_id=row.pk, text=row.text, embedding=embed_document(row.text))


@examples(12)
@given(
    ages=st.lists(st.integers(401, 40_000), min_size=2, max_size=10, unique=True),
    importance=st.floats(0, 1),
    mode=st.sampled_from(["auto", "relevance"]),
)
def test_old_rows_of_one_text_are_ordered_by_age_and_none_scores_zero(
    ages: list[int], importance: float, mode: Mode, embedder: FakeEmbedder
) -> None:
    home = fresh_home()
    for age in ages:
        # The same words and the same length, in another order for each row, so that no two are duplicates.
        text = f"the archive key hangs behind cabinet {'x' * len(str(age))}{age}"
        row = episodic_write(
            home=home,
            text=text,
            origin=CONSOLIDATION,
            importance=importance,
            created_at=NOW - dt.timedelta(days=age),
            defer_embedding=True,
        ).row
        assert row is not None
    hits = episodic_search(home=home, query="archive key", mode=mode, limit=20, mmr=False, now=NOW).hits
    assert len(hits) == len(ages)
    assert all(hit.score > 0 for hit in hits)
    for one, other in itertools.pairwise(hits):
        assert one.score > other.score or one.row.created_at > other.row.created_at


@examples(8)
@given(
    phrases=st.lists(PHRASES, min_size=1, max_size=5),
    gone=st.lists(st.booleans(), min_size=15, max_size=15),
    behind=st.booleans(),
    asked=QUESTIONS,
)
def test_tombstones_never_answer(
    phrases: list[str], gone: list[bool], behind: bool, asked: str, embedder: FakeEmbedder
) -> None:
    """`behind`: the row is a tombstone and the index does not know it yet."""
    home = fresh_home()
    fill(home, phrases)
    rows = [
        *EpisodicMemory.objects.filter(home=home),
        *SemanticMemory.objects.filter(home=home),
        *Lesson.objects.filter(home=home),
    ]
    for row in itertools.compress(rows, gone):
        if behind:
            type(row).all_objects.filter(pk=row.pk).update(is_deleted=True)
        elif isinstance(row, EpisodicMemory):
            episodic_delete(row=row, origin=EXPLICIT)
        elif isinstance(row, SemanticMemory):
            semantic_delete(row=row, origin=EXPLICIT)
        else:
            lesson_delete(row=row, origin=EXPLICIT)
    live = rows_of(home)
    for query in (asked, phrases[0]):
        assert set(answers(home, query)) <= live


HUGE = [
    "a" * 1_000_000,
    "生" * 1_000_000,
    "\ud800\x00" * 500_000,
    '"' * 1_000_000,
    "x OR " * 200_000,
    "(" * 1_000_000,
]


class TestQuestions:
    @examples(25)
    @given(query=QUESTIONS)
    def test_no_text_raises(self, query: str, home: Workspace, embedder: FakeEmbedder) -> None:
        if not EpisodicMemory.objects.exists():
            fill(home, ["archive key cabinet (a*)", "即适者生存 don't use agents", 'status: "done"'])
        assert isinstance(answers(home, query), list)

    @pytest.mark.parametrize("query", HUGE, ids=["latin", "han", "surrogates", "quotes", "words", "brackets"])
    def test_a_megabyte_is_a_question_too(self, query: str, home: Workspace, alice: User) -> None:
        fill(home, ["archive key cabinet (a*)", "即适者生存 don't use agents"])
        assert isinstance(episodic_search(home=home, query=query).hits, tuple)
        assert isinstance(semantic_search(home=home, query=query).hits, tuple)
        assert isinstance(lesson_search(home=home, query=query), list)
        assert search_all(query=query, workspace=home).degraded in {(), ("embedder_unavailable",)}
        packet = context_build(make_conversation(alice, home), query, is_new=True, now=NOW)
        assert packet.total_chars <= packet.ceiling_chars
        assert not any("failed" in name for name in packet.degraded)


@examples(15)
@given(
    texts=st.lists(st.one_of(PHRASES, st.sampled_from(["The Key Of Ages", "the key  of ages"])), min_size=1),
    cuts=st.lists(st.integers(0, 8), max_size=3),
    preserve=st.booleans(),
)
def test_what_is_a_duplicate_does_not_depend_on_the_batch(
    texts: list[str], cuts: list[int], preserve: bool
) -> None:
    """One by one, in one batch, or in batches cut anywhere: the same rows live, and each text fares alike."""
    starts = sorted({0, *(cut for cut in cuts if cut < len(texts))})
    batches = [texts[a:b] for a, b in itertools.pairwise([*starts, len(texts)])]
    one_by_one, in_one, cut = fresh_home(), fresh_home(), fresh_home()
    singly = [
        episodic_write(
            home=one_by_one, text=text, origin=CONSOLIDATION, defer_embedding=True, preserve=preserve
        ).outcome
        for text in texts
    ]
    assert outcomes_of(in_one, [texts], preserve=preserve) == singly
    assert outcomes_of(cut, batches, preserve=preserve) == singly
    assert live_texts(one_by_one) == live_texts(in_one) == live_texts(cut)


def outcomes_of(home: Workspace, batches: list[list[str]], *, preserve: bool) -> list[str]:
    found: list[str] = []
    for batch in batches:
        drafts = [EpisodicDraft(text) for text in batch]
        results = episodic_write_many(home=home, drafts=drafts, origin=CONSOLIDATION, preserve=preserve)
        found += [result.outcome for result in results]
    return found


def live_texts(home: Workspace) -> list[tuple[str, int]]:
    """With how often each was met."""
    rows = EpisodicMemory.objects.filter(home=home).order_by("pk")
    return list(rows.values_list("text", "times_seen"))


@pytest.mark.django_db(transaction=True)
@examples(6)
@given(rules=st.lists(PHRASES, min_size=2, max_size=6))
def test_decisions_do_not_depend_on_where_a_transaction_ends(
    rules: list[str], embedder: FakeEmbedder
) -> None:
    apart, together = fresh_home(), fresh_home()
    separately = [decided(apart, rule, number) for number, rule in enumerate(rules)]
    with transaction.atomic():
        at_once = [decided(together, rule, number) for number, rule in enumerate(rules)]
    assert separately == at_once
    assert live_rules(apart) == live_rules(together)
    assert live_texts(apart) == live_texts(together)


def decided(home: Workspace, text: str, number: int) -> tuple[str, int, str, str]:
    lesson = lesson_write(home=home, rule=text, origin=EXPLICIT)
    episode = episodic_write(home=home, text=text, origin=CONSOLIDATION)
    # No episode quotes such a value: one that quotes a replaced value is retired after the commit.
    value = {"said": text}
    fact = semantic_write(home=home, key=f"user.k{number % 2}", value=value, origin=CONSOLIDATION)
    return lesson.outcome, len(lesson.superseded), episode.outcome, fact.outcome


def live_rules(home: Workspace) -> list[str]:
    return list(Lesson.objects.filter(home=home).order_by("pk").values_list("rule", flat=True))


@examples(8)
@given(
    phrases=st.lists(PHRASES, min_size=1, max_size=4),
    stretch=st.integers(1, 60),
    window=st.sampled_from([1, 2_000, 8_000, 200_000, 2_000_000]),
)
def test_no_packet_and_no_block_is_over_its_budget(
    phrases: list[str], stretch: int, window: int, embedder: FakeEmbedder, alice: User
) -> None:
    home = fresh_home()
    fill(home, [f"{phrase} " * stretch for phrase in phrases])
    conversation = make_conversation(alice, home)
    packet = context_build(conversation, phrases[0], is_new=True, model_window=window, now=NOW)
    assert packet.total_chars == len(packet.text) <= packet.ceiling_chars
    for block in packet.blocks:
        assert block.cap is None or block.chars <= block.cap, block.name
