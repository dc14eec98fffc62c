"""A process of its own for tests: reads one JSON command a line, answers one JSON line. Its embedder is the
fake one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crewsite.settings.test")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from crewsite.embeddings.service import embed_documents, set_backend  # noqa: E402
from crewsite.search.service import candidates, document_delete, documents_put_many  # noqa: E402
from tests.fakes import FakeEmbedder  # noqa: E402


def migrate() -> None:
    call_command("migrate", verbosity=0, skip_checks=True)


def put(collection: str, texts: dict[str, str]) -> int:
    made = embed_documents(list(texts.values()))
    with transaction.atomic():
        documents_put_many(
            collection=collection,
            items=[(int(pk), text, vector) for (pk, text), vector in zip(texts.items(), made, strict=True)],
        )
    return len(texts)


def delete(collection: str, object_id: int) -> None:
    with transaction.atomic():
        document_delete(collection=collection, object_id=object_id)


def search(collection: str, query: str, k: int, mode: str = "auto") -> dict[str, Any]:
    answer = candidates(collection=collection, query=query, k=k, mode=mode)
    return {"ids": [hit.object_id for hit in answer.hits], "rung": answer.rung, "degraded": answer.degraded}


def write_base(collection: str) -> int:
    from crewsite.search.vector_index.registry import base_refresh
    from crewsite.search.vector_index.rows import active_state

    state = active_state(collection)
    assert state is not None
    return base_refresh(state[0], collection)


def write_base_for_ever(collection: str) -> None:
    while True:
        write_base(collection)
        answer("written")


def is_mapped(name: str) -> bool:
    with open("/proc/self/maps") as maps:  # noqa: PTH123
        return name in maps.read()


def sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


COMMANDS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (migrate, put, delete, search, write_base, write_base_for_ever, is_mapped, sql)
}


def answer(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    set_backend(FakeEmbedder)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        answer(COMMANDS[name](*arguments))
