"""What other apps add to a pass: they register in `CONSOLIDATION_EXTENSIONS` by dotted path, so memory
imports none of them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from pydantic import BaseModel

    from crewsite.accounts.models import Workspace
    from crewsite.conversations.models import Conversation
    from crewsite.security.origin import Origin
    from memory.consolidation.outcomes import Ledger
    from memory.prompts import Prompt


@dataclass(frozen=True, slots=True)
class WriteContext:
    """For whom a pass writes. `home` holds layers 4 to 6 of the conversation's workspace."""

    conversation: Conversation
    workspace: Workspace
    home: Workspace
    origin: Origin
    now: dt.datetime


class Extension(Protocol):
    """`name` is the field of the answer that holds `item`s, `path` the pass it takes part in.

    `layer` names the entries in receipts. `write` runs inside the transaction of the pass, after
    `embed_ahead` has run outside of it with the same items; refusals go to the ledger.
    """

    name: str
    layer: str
    path: str
    max_items: int
    item: type[BaseModel]

    def prompt(self) -> tuple[Prompt, dict[str, object]]:
        """The part of the instructions that asks for the items, and its variables."""
        ...

    def texts(self, item: Any) -> dict[str, str]:
        """The fields of an item that hold text, for redaction. The first decides whether it is a
        placeholder.
        """
        ...

    def embed_ahead(self, items: Sequence[Any], context: WriteContext) -> None: ...

    def write(self, items: Sequence[Any], context: WriteContext, ledger: Ledger) -> None: ...


def extensions_for(path: str) -> list[Extension]:
    every: list[Extension] = [import_string(name)() for name in settings.CONSOLIDATION_EXTENSIONS]
    return [extension for extension in every if extension.path == path]
