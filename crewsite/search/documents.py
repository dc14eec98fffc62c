"""Writing what is searched: document, keyword rows and vector in the transaction that writes their object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from django.db import connection, models, transaction

from crewsite.search import counts
from crewsite.search.constants import ROWS_PER_STATEMENT
from crewsite.search.folding import FOLD, fold
from crewsite.search.keyword import keyword_index
from crewsite.search.models import Collection, Document, document_id, documents_of
from crewsite.search.scopes import collection_number, collection_number_ensure
from crewsite.search.words import has_unspaced

if TYPE_CHECKING:
    from crewsite.embeddings.service import Embedding

# Every write of memory passes here; through the ORM building these statements took longer than running them.
_PUT: Final = (
    "INSERT INTO search_document (id, collection, object_id, unspaced, text_hash, text, folded)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO UPDATE SET unspaced = excluded.unspaced,"
    " text_hash = excluded.text_hash, text = excluded.text, folded = excluded.folded"
)
_STORED: Final = "SELECT text_hash, unspaced, folded FROM search_document WHERE id = %s"
_DELETE: Final = "DELETE FROM search_document WHERE id = %s"

T = TypeVar("T")
Item = tuple[int, str] | tuple[int, str, "Embedding | None"]


def text_hash(text: str) -> str:
    """32 hex digits naming exactly this text. An identity, not a protection."""
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def put_many(collection: str, items: Sequence[Item]) -> None:
    """Of two items for one object the later counts."""
    if not items:
        return
    number = collection_number_ensure(collection)
    latest: dict[int, Document] = {}
    embeddings: dict[int, Embedding] = {}
    for object_id, text, *rest in items:
        folded = fold(text)
        latest[object_id] = Document(
            id=document_id(number, object_id),
            collection=collection,
            object_id=object_id,
            unspaced=has_unspaced(folded),
            text_hash=text_hash(text),
            text=text,
            folded=folded,
        )
        embeddings.pop(object_id, None)
        if rest and rest[0] is not None:
            embeddings[object_id] = rest[0]
    for part in _parts(list(latest.values())):
        _put(collection, part, embeddings)
    counts.forget(collection)
    transaction.on_commit(lambda: counts.forget(collection))


def delete_many(collection: str, object_ids: Sequence[int]) -> int:
    """Returns how many documents there were."""
    from crewsite.embeddings.vectors import vectors_drop_many

    number = collection_number(collection) if object_ids else None
    if number is None:
        return 0
    removed: list[Document] = []
    for part in _parts([document_id(number, object_id) for object_id in object_ids]):
        removed += _stored(part).values()
        with connection.cursor() as cursor:
            cursor.executemany(_DELETE, [(pk,) for pk in part])
    keyword_index().replace(removed=removed, added=[])
    vectors_drop_many(collection=collection, object_ids=list(object_ids))
    counts.forget(collection)
    transaction.on_commit(lambda: counts.forget(collection))
    return len(removed)


def folded_otherwise() -> models.QuerySet[Collection, Collection]:
    """Collections that an older version filled, or another Python."""
    return Collection.objects.exclude(fold=FOLD)


def refold() -> int:
    """Fold anew the documents of those collections; returns how many there were."""
    count = 0
    for collection in folded_otherwise():
        after_id = -1
        while page := _refold_page(collection.name, after_id):
            count += len(page)
            after_id = page[-1][0]
        Collection.objects.filter(pk=collection.pk).update(fold=FOLD)
    return count


def _refold_page(collection: str, after_id: int) -> list[tuple[int, str]]:
    with transaction.atomic():
        rows = documents_of(collection).filter(object_id__gt=after_id).order_by("object_id")
        page = list(rows.select_for_update().values_list("object_id", "text")[:ROWS_PER_STATEMENT])
        put_many(collection, page)
    return page


def _put(collection: str, documents: list[Document], embeddings: dict[int, Embedding]) -> None:
    known = _stored([document.pk for document in documents])
    changed = [d for d in documents if d.pk not in known or _told(known[d.pk]) != _told(d)]
    if changed:
        with connection.cursor() as cursor:
            cursor.executemany(
                _PUT,
                [
                    (d.pk, d.collection, d.object_id, d.unspaced, d.text_hash, d.text, d.folded)
                    for d in changed
                ],
            )
        keyword_index().replace(removed=[known[d.pk] for d in changed if d.pk in known], added=changed)
    outdated = {d.object_id for d in changed if d.pk in known and known[d.pk].text_hash != d.text_hash}
    _put_vectors(collection, documents, embeddings, outdated=outdated)


def _told(document: Document) -> tuple[str, str]:
    return document.text_hash, document.folded


def _stored(ids: list[int]) -> dict[int, Document]:
    """Documents as they are in the database, but for the text itself."""
    found: dict[int, Document] = {}
    with connection.cursor() as cursor:
        for pk in ids:
            cursor.execute(_STORED, [pk])
            row = cursor.fetchone()
            if row is not None:
                found[pk] = Document(id=pk, text_hash=row[0], unspaced=bool(row[1]), folded=row[2])
    return found


def _put_vectors(
    collection: str, documents: list[Document], embeddings: dict[int, Embedding], *, outdated: set[int]
) -> None:
    from crewsite.embeddings.vectors import VectorItem, vectors_drop_many, vectors_put_many

    items = [
        VectorItem(collection, document.object_id, document.text_hash, embeddings[document.object_id])
        for document in documents
        if document.object_id in embeddings
    ]
    # Vectors in other spaces are outdated too; the drop empties all of them before the new one is put.
    if outdated:
        vectors_drop_many(collection=collection, object_ids=sorted(outdated))
    if items:
        vectors_put_many(items)


def _parts(items: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), ROWS_PER_STATEMENT):
        yield items[start : start + ROWS_PER_STATEMENT]
