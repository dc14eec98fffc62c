"""The number behind a collection's name. Looked up every time: a remembered number of a rolled-back
transaction could be given to another collection, and its rows would answer here."""

from __future__ import annotations

from django.db import connection

from crewsite.search.folding import FOLD
from crewsite.search.models import Collection


def collection_number(name: str) -> int | None:
    """None for a collection that nothing was ever put into."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM search_collection WHERE name = %s", [name])
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def collection_number_ensure(name: str) -> int:
    number = collection_number(name)
    if number is None:
        number = Collection.objects.get_or_create(name=name, defaults={"fold": FOLD})[0].pk
    return number
