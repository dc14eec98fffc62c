"""Between a model's answer and the services: credentials are taken out of every text, and entries that are
empty or placeholders are refused and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.redaction import redact
from memory.consolidation.placeholders import is_placeholder

if TYPE_CHECKING:
    from pydantic import BaseModel

    from crewsite.accounts.models import Workspace
    from crewsite.security.origin import Origin
    from memory.consolidation.extensions import Extension
    from memory.consolidation.outcomes import Ledger
    from memory.consolidation.schemas import EntryOut, EpisodeOut, FactOut

Item = TypeVar("Item", bound="BaseModel")


@dataclass(slots=True)
class Cleaner:
    """Cleans the texts of one answer. `found` counts what was taken out, by layer and family."""

    ledger: Ledger
    found: dict[str, Counter[str]] = field(default_factory=dict)

    def text(self, layer: str, text: str) -> str:
        redacted = redact(text)
        if redacted.found:
            self.found.setdefault(layer, Counter()).update(redacted.found)
        return redacted.text

    def facts(self, items: Sequence[FactOut]) -> list[FactOut]:
        cleaned = [
            item.model_copy(update={"key": self.text("semantic", item.key), "value": self._value(item.value)})
            for item in items
        ]
        return [item for item in cleaned if self._worth("semantic", f"{item.key} = {item.value}", item.value)]

    def entries(self, items: Sequence[EntryOut]) -> list[EntryOut]:
        return [
            item.model_copy(
                update={
                    "title": self.text("history", item.title),
                    "text": self.text("history", item.text),
                }
            )
            for item in items
        ]

    def episodes(self, items: Sequence[EpisodeOut]) -> list[EpisodeOut]:
        cleaned = [item.model_copy(update={"text": self.text("episodic", item.text)}) for item in items]
        return [item for item in cleaned if self._worth("episodic", item.text, item.text)]

    def extension(self, extension: Extension, items: Sequence[Any]) -> list[Any]:
        kept = []
        for item in items:
            texts = extension.texts(item)
            cleaned = {name: self.text(extension.layer, text) for name, text in texts.items()}
            leading = next(iter(cleaned.values()), "")
            if self._worth(extension.layer, leading, leading):
                kept.append(item.model_copy(update=cleaned))
        return kept

    def record(self, *, home: Workspace, origin: Origin) -> None:
        """One event for each layer something was taken out of; it names families, never what they were."""
        for layer, families in sorted(self.found.items()):
            event_record(
                home_id=home.pk,
                event=MemoryEvent.Event.REDACTED,
                memory_type=layer,
                reason=", ".join(f"{count} {family}" for family, count in sorted(families.items())),
                origin=origin,
            )

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text("semantic", value)
        if isinstance(value, list):
            return [self.text("semantic", part) for part in value]
        return value

    def _worth(self, layer: str, shown: str, value: Any) -> bool:
        text = " ".join(value) if isinstance(value, list) else value
        if not isinstance(text, str) or not is_placeholder(text):
            return True
        code = "placeholder" if text.strip() else "empty"
        self.ledger.refuse(layer, shown, code=code, message="The text is empty or a placeholder.")
        return False
