"""Recall over many episodes, beside the two things it cannot be faster than: embedding the query and
searching vectors."""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from bench.report import Report, percentiles, time_each
from bench.site import prepare, sentence

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

QUERIES = 400
WARM_UP = 20
WRITES = 400


def run(options: argparse.Namespace) -> Report:
    prepare()
    from crewsite.accounts.services import default_workspace

    rng, home = random.Random(7), default_workspace()
    store(rng, options.rows, home=home)
    queries = [" ".join(sentence(rng, number).split()[:10]) for number in range(QUERIES + WARM_UP)]
    recall = recall_in(home)
    figures = {
        "episodes": float(options.rows),
        **percentiles("recall", time_each(recall, queries)[WARM_UP:]),
        **percentiles("recall_without_embed", time_each(recall, queries)[WARM_UP:]),
        **embed_figures(queries),
        **percentiles("plain_faiss", time_each(plain_faiss(options.rows), queries)[WARM_UP:]),
        **write_figures(rng, home),
    }
    figures["embed_ratio"] = figures["embed_here_p50_ms"] / figures["llama_embed_p50_ms"]
    return Report(
        "recall",
        figures,
        {
            "recall_p50_ms": ("<=", 10),
            "recall_p95_ms": ("<=", 25),
            "recall_without_embed_p50_ms": ("<=", 5),
            "embed_ratio": ("<=", 1.2),
            "writes_per_s": (">=", 300),
        },
    )


def store(rng: random.Random, rows: int, *, home: Workspace) -> None:
    """Writes the episodes through the service and embeds them with the backfill, as an import would."""
    from crewsite.search.tasks import embeddings_backfill, index_write
    from crewsite.security.origin import Origin, Source
    from memory.services import EpisodicDraft, episodic_write_many

    origin = Origin(source=Source.IMPORT)
    drafts = [EpisodicDraft(text=sentence(rng, number), importance=rng.random()) for number in range(rows)]
    results = episodic_write_many(home=home, drafts=drafts, origin=origin)
    if refused := [result for result in results if result.outcome != "stored"]:
        raise SystemExit(f"{len(refused)} rows were not stored, the first because: {refused[0].message}")
    embeddings_backfill()
    index_write()


def recall_in(home: Workspace) -> Callable[[str], None]:
    from memory.selectors import episodic_search

    def recall(query: str) -> None:
        found = episodic_search(home=home, query=query)
        if found.degraded or not found.hits:
            raise SystemExit(
                f"The recall was degraded ({found.degraded}) or empty; its time would mean nothing."
            )

    return recall


def write_figures(rng: random.Random, home: Workspace) -> dict[str, float]:
    """Single durable writes with their duplicate check, the vector at hand: into the full home, where each
    evicts another row, and with a cap that is far away."""
    from constance import config

    from crewsite.embeddings.service import embed_document
    from crewsite.security.origin import Origin, Source
    from memory.services import episodic_write

    def rate() -> float:
        texts = [sentence(rng, number) for number in range(WRITES)]
        for text in texts:
            embed_document(text)
        start = perf_counter()
        for text in texts:
            episodic_write(home=home, text=text, origin=Origin(source=Source.USER_EXPLICIT))
        return len(texts) / (perf_counter() - start)

    full = rate()
    config.EPISODIC_MAX_ROWS = 1_000_000
    return {"writes_per_s": rate(), "writes_with_eviction_per_s": full}


def embed_figures(queries: Sequence[str]) -> dict[str, float]:
    """In turns, since the speed of a shared machine drifts by more than what is compared."""
    bare = bare_embedder()
    times: dict[str, list[float]] = {"embed_here": [], "llama_embed": []}
    for query in queries:
        times["embed_here"] += time_each(embed_here, [f"{query} again"])
        times["llama_embed"] += time_each(bare, [query])
    return {
        key: value
        for name, taken in times.items()
        for key, value in percentiles(name, taken[WARM_UP:]).items()
    }


def embed_here(query: str) -> None:
    from crewsite.embeddings.service import embed_query

    embed_query(query)


def bare_embedder():  # type: ignore[no-untyped-def]
    from llama_cpp import Llama

    from crewsite.embeddings.service import get_embedder

    model = Llama(str(get_embedder().path), embedding=True, n_threads=1, verbose=False)
    return model.embed


def plain_faiss(rows: int):  # type: ignore[no-untyped-def]
    import faiss
    import numpy as np

    vectors = np.random.default_rng(3).standard_normal((rows, 384)).astype(np.float32)
    faiss.normalize_L2(vectors)
    index = faiss.IndexFlatIP(384)
    index.add(vectors)
    return lambda query: index.search(vectors[hash(query) % rows][None], 50)
