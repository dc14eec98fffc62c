"""Retiring episodes that quote a value which was just replaced:
few, word for word, and never what still may hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crewsite.search.collections import collection_name
from crewsite.search.service import document_delete
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Origin, Source
from memory.constants import MAX_RETIRED_EPISODES, MIN_QUOTED_CHARS, QUOTING_ROWS_LOOKED_AT
from memory.models import EpisodicMemory
from memory.rules import key_words, render_value
from memory.services.locks import home_locked
from memory.words import stems

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

REASON = "superseded_value"


def quotes(text: str, value: str) -> bool:
    """Whether the text holds the value word for word: `vim` is not quoted by `neovim`."""
    before = r"(?<!\w)" if value[:1].isascii() else ""
    after = r"(?!\w)" if value[-1:].isascii() else ""
    return re.search(f"{before}{re.escape(value)}{after}", text) is not None


def retire_quoting_episodes(
    *, home: Workspace, key: str, old_value: Any, new_value: Any, origin: Origin
) -> tuple[int, ...]:
    """Tombstone at most three episodes that quote the old value and not the new one; returns their ids.

    Those sharing a word with the key go first, then newer ones.
    What a person asked to keep falls only to a person.
    """
    old, new = render_value(old_value).strip(), render_value(new_value).strip()
    if len(old) < MIN_QUOTED_CHARS or quotes(new, old):
        return ()
    with home_locked(home):
        rows = EpisodicMemory.objects.filter(home=home, text__contains=old).order_by("-created_at", "-id")
        if not origin.is_explicit:
            rows = rows.exclude(source=Source.USER_EXPLICIT)
        quoting = [
            row
            for row in rows[:QUOTING_ROWS_LOOKED_AT]
            if quotes(row.text, old) and not (new and quotes(row.text, new))
        ]
        about = stems(key_words(key))
        if isinstance(old_value, bool) or not any(map(str.isalpha, old)):
            # A number or a truth value stands in many texts by chance; one about the same thing quotes it.
            quoting = [row for row in quoting if about & stems(row.text)]
        quoting.sort(key=lambda row: not about & stems(row.text))
        for row in quoting[:MAX_RETIRED_EPISODES]:
            row.mark_deleted(reason=REASON)
            row.save(update_fields=["is_deleted", "deleted_at", "deleted_reason", "updated_at"])
            document_delete(collection=collection_name("episodic", home.pk), object_id=row.pk)
            event_record(
                home_id=home.pk,
                event=MemoryEvent.Event.SUPERSEDED,
                memory_type="episodic",
                object_id=row.pk,
                old=row.text,
                reason=f"{REASON}: {key}"[:200],
                origin=origin,
            )
    return tuple(row.pk for row in quoting[:MAX_RETIRED_EPISODES])
