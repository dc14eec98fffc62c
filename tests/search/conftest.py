"""What search tests share: a collection to write to, and no index remembered from another test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import transaction

from crewsite.embeddings.service import Embedding, embed_documents
from crewsite.search.service import documents_put_many
from crewsite.search.vector_index.registry import forget_all


@pytest.fixture(autouse=True)
def no_open_index() -> Iterator[None]:
    forget_all()
    yield
    forget_all()


def put(collection: str, texts: dict[int, str], *, embed: bool = True) -> None:
    """Write documents, with their vectors when an embedder is installed and `embed` asks for it."""
    made: list[Embedding | None] = embed_documents(list(texts.values())) if embed else [None] * len(texts)
    with transaction.atomic():
        documents_put_many(
            collection=collection,
            items=[(pk, text, vector) for (pk, text), vector in zip(texts.items(), made, strict=True)],
        )
