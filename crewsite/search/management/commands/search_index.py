"""`manage.py search_index status|backfill|rebuild`: look at the search index, fill it, or make it anew from
the rows.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Look at the search index, embed what has no vector, or make everything derived anew."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        actions.add_parser("status", help="What the index holds and what is degraded, as JSON.")
        actions.add_parser("backfill", help="Embed every text that has no vector of the active model.")
        actions.add_parser("rebuild", help="Make everything derived anew; vectors are kept.")

    def handle(self, *args: Any, **options: Any) -> None:
        from crewsite.search import tasks
        from crewsite.search.service import search_status

        result: Any
        if options["action"] == "status":
            result = search_status()
        elif options["action"] == "backfill":
            result = tasks.embeddings_backfill()
        else:
            result = _rebuild()
        self.stdout.write(json.dumps(result, indent=2))


def _rebuild() -> dict[str, Any]:
    from crewsite.search.reconcile import reconcile
    from crewsite.search.tasks import index_write
    from crewsite.search.vector_index.base_file import index_folder

    done = reconcile(force=True)
    shutil.rmtree(index_folder(), ignore_errors=True)
    return {"put": done.put, "removed": done.removed, "rebuilt": done.rebuilt, "files": index_write()}
