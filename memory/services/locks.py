"""The lock under which a memory home is read, decided about and written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from crewsite.accounts.models import Workspace


@contextmanager
def home_locked(home: Workspace) -> Iterator[None]:
    """One transaction in which no other write to this home decides at the same time.

    SQLite takes its only write lock when the transaction begins (IMMEDIATE). PostgreSQL locks the home's row,
    in the
    mode that lets rows which merely refer to it be inserted meanwhile.
    """
    with transaction.atomic():
        if connection.features.has_select_for_update:
            Workspace.objects.select_for_update(no_key=True).only("pk").get(pk=home.pk)
        yield
