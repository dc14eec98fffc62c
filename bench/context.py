"""The context packet over many rows in every layer, without the model: of a first message and of a later one
of the same conversation. Its time beside the bare search for episodes, its SQL statements beside those of a
small home. Texts get vectors of their words' hashes."""

from __future__ import annotations

import argparse
import datetime as dt
import logging
import random
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from bench.recall import store
from bench.report import Report, percentiles, time_each
from bench.site import prepare, sentence

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from crewsite.conversations.models import Conversation
    from memory.context.packet import ContextPacket

MESSAGES: Final = 100
WARM_UP: Final = 10
FEW_ROWS: Final = 100
NOW: Final = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
DIM: Final = 384
FIRST: Final = "What did we decide about the harbour?"


def run(options: argparse.Namespace) -> Report:
    prepare()
    rng = random.Random(11)
    sentence(rng, 0)  # reads the words of the model that is put aside now
    from crewsite.accounts.services import default_workspace
    from crewsite.embeddings.service import set_backend

    set_backend(WordHashes)
    # Every packet tells that 9,950 lessons are too many.
    logging.getLogger("lessons.context").setLevel(logging.CRITICAL)
    many, few = default_workspace(), another_home()
    for home, rows in ((many, options.rows), (few, FEW_ROWS)):
        fill(home, rng, rows)
    messages = [sentence(rng, number) for number in range(MESSAGES + WARM_UP)]
    figures = {"rows_a_layer": float(options.rows), **percentiles("recall", recalls(many, messages))}
    for name, packets in (("packet", packets_of), ("later", later_packets_of)):
        figures |= percentiles(name, time_each(packets(many), messages)[WARM_UP:])
        counted, counted_few = (statements(packets(home), messages)[WARM_UP:] for home in (many, few))
        figures[f"{name}_queries"] = float(max(counted))
        figures[f"{name}_queries_at_{FEW_ROWS}_rows"] = float(max(counted_few))
    return Report(
        "context",
        figures,
        {
            "packet_p95_ms": ("<=", 40),
            "packet_queries": ("<=", 25),
            "later_p95_ms": ("<=", 40),
            "later_queries": ("<=", 25),
        },
    )


def recalls(home: Workspace, messages: Sequence[str]) -> list[float]:
    """The one search that a packet cannot do without, bare."""
    from memory.selectors import episodic_search

    def search(message: str) -> None:
        episodic_search(home=home, query=message, relevance_filter=True, now=NOW)

    return time_each(search, messages)[WARM_UP:]


class WordHashes:
    """Vectors in no time: the sum of one random direction for every word."""

    model_id, dim, signature, error = "word-hashes", DIM, "word-hashes:0:none", ""

    def is_ready(self) -> bool:
        return True

    def wait_ready(self, timeout: float) -> bool:
        return True

    def embed(self, text: str, kind: str = "document") -> Any:
        import numpy as np

        vector = np.sum([direction(word) for word in text.lower().split()], axis=0)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed_batch(self, texts: Sequence[str], kind: str = "document") -> list[Any]:
        return [self.embed(text) for text in texts]

    def close(self) -> None:
        return None


@lru_cache(maxsize=20_000)
def direction(word: str) -> Any:
    import numpy as np

    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIM)


def another_home() -> Workspace:
    from crewsite.accounts.models import Workspace

    return Workspace.objects.create(name="Small", slug="small", is_isolated=True)


def fill(home: Workspace, rng: random.Random, rows: int) -> None:
    """Through the services, but for lessons: each is compared with all others, which is not measured here."""
    from django.db import transaction

    from crewsite.search.tasks import embeddings_backfill, index_write
    from crewsite.security.origin import Origin, Source
    from lessons.models import Lesson
    from memory.models import PreferencesDocument, ProjectsDocument
    from memory.services import document_replace, history_append, semantic_set_if_absent

    store(rng, rows, home=home)
    origin = Origin(source=Source.IMPORT)
    with transaction.atomic():
        for number in range(rows):
            text = sentence(rng, number)
            source = rng.choice((Source.USER_EXPLICIT, Source.CONSOLIDATION))
            semantic_set_if_absent(
                home=home, key=f"project.item_{number}", value=text[:80], origin=Origin(source=source)
            )
            at = NOW - dt.timedelta(days=rng.randrange(365), minutes=rng.randrange(600))
            history_append(workspace=home, title=text[:40], text=text, at=at, origin=origin)
        text = "\n".join(f"- {sentence(rng, number)}" for number in range(20))
        document_replace(model=PreferencesDocument, workspace=home, text=text, origin=origin)
        document_replace(model=ProjectsDocument, workspace=home, text=text, origin=origin)
        Lesson.objects.bulk_create(
            Lesson(
                home=home,
                key=f"lesson.{number}",
                rule=sentence(rng, number),
                source=rng.choice((Source.USER_EXPLICIT, Source.CONSOLIDATION)),
            )
            for number in range(rows)
        )
    embeddings_backfill()
    index_write()


def packets_of(home: Workspace) -> Callable[[str], None]:
    """Builds the packet of a new conversation's first message. History is rendered anew where it changed
    since the conversation before, so here for the first of them alone."""
    conversation = conversation_in(home)

    def build(message: str) -> None:
        built(conversation, message, is_new=True)

    return build


def later_packets_of(home: Workspace) -> Callable[[str], None]:
    """Builds the packet of a later message: the opening that was chosen for the first one, and what this one
    adds."""
    conversation = conversation_in(home)
    opening = built(conversation, FIRST, is_new=True)
    chosen = [(source.kind, source.object_id, source.score) for source in opening.sources]

    def build(message: str) -> None:
        built(conversation, message, is_new=False, resumed=True, opening_message=FIRST, opening_rows=chosen)

    return build


def conversation_in(home: Workspace) -> Conversation:
    """As a turn loads it."""
    from crewsite.accounts.services import owner_ensure
    from crewsite.conversations.models import Conversation
    from crewsite.conversations.services import conversation_create

    made = conversation_create(owner=owner_ensure(), workspace=home)
    return Conversation.objects.select_related("workspace", "owner").get(pk=made.pk)


def built(conversation: Conversation, message: str, **options: Any) -> ContextPacket:
    from memory.context.build import context_build

    found = context_build(conversation, message, now=NOW, **options)
    if found.degraded:
        raise SystemExit(f"The packet was degraded: {found.degraded}; its time would mean nothing.")
    return found


def statements(act: Callable[[str], object], messages: Sequence[str]) -> list[int]:
    """SQL statements of every call, the most there can be: what a process keeps for some seconds (counts,
    live settings) is read anew each time."""
    from django.db import connection

    from crewsite import live
    from crewsite.search import counts

    counted: list[int] = []

    def count(execute: Callable[..., Any], *call: Any) -> Any:
        counted[-1] += 1
        return execute(*call)

    with connection.execute_wrapper(count):
        for message in messages:
            counted.append(0)
            counts.forget_all()
            live.forget()
            act(message)
    return counted
