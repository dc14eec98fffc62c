"""What a pass came to, as plain values: the ledger that becomes the receipt, and the answer to whoever
asked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from crewsite.security.redaction import snippet

if TYPE_CHECKING:
    from memory.models import ConsolidationReceipt

State = Literal["done", "failed", "nothing", "busy", "changed", "waiting", "no_model", "dry_run"]


@dataclass(slots=True)
class Ledger:
    """Outcomes by layer, refused entries with their reason, and the rows written, while a pass writes."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    refused: list[dict[str, str]] = field(default_factory=list)
    written: list[dict[str, Any]] = field(default_factory=list)

    def count(self, layer: str, outcome: str) -> None:
        self.counts.setdefault(layer, Counter())[outcome] += 1

    def wrote(self, layer: str, outcome: str, object_id: int) -> None:
        self.count(layer, outcome)
        self.written.append({"kind": layer, "id": object_id, "outcome": outcome})

    def refuse(self, layer: str, text: str, *, code: str, message: str) -> None:
        self.count(layer, "refused")
        self.refused.append({"layer": layer, "code": code, "message": message, "text": snippet(text)})

    def counts_as_json(self) -> dict[str, dict[str, int]]:
        return {layer: dict(sorted(outcomes.items())) for layer, outcomes in sorted(self.counts.items())}


@dataclass(frozen=True, slots=True)
class PassOutcome:
    """`changed`: the conversation or a document moved on meanwhile, so the pass stays pending. `waiting`: a
    failed range whose time has not come."""

    state: State
    message: str
    receipt: ConsolidationReceipt | None = None

    @property
    def ok(self) -> bool:
        return self.state != "failed"
