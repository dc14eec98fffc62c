from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class SearchConfig(AppConfig):
    name = "crewsite.search"
    verbose_name = "Search index"

    def ready(self) -> None:
        post_migrate.connect(_keyword_tables_follow, sender=self)


def _keyword_tables_follow(**_: Any) -> None:
    """Keeps the keyword tables in step where a command changed the documents behind them, as `flush` does."""
    from django.db import connection

    from crewsite.search.models import Document
    from crewsite.search.reconcile import keyword_rebuild

    if Document._meta.db_table in connection.introspection.table_names():
        keyword_rebuild()
