"""What every benchmark returns: figures, the bars they are held against, and the machine."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

Bar = tuple[Literal["<=", ">="], float]


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    figures: dict[str, float]
    bars: dict[str, Bar] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(self.holds(key) for key in self.bars)

    def holds(self, key: str) -> bool:
        sign, limit = self.bars[key]
        return self.figures[key] <= limit if sign == "<=" else self.figures[key] >= limit

    def show(self) -> None:
        width = max(map(len, self.figures))
        print(f"\n{self.name}  ({machine()})")
        for key, value in self.figures.items():
            bar = (
                f"   bar {self.bars[key][0]} {self.bars[key][1]:g}  {'ok' if self.holds(key) else 'MISSED'}"
                if key in self.bars
                else ""
            )
            print(f"  {key:<{width}}  {value:>12,.3f}{bar}")

    def as_json(self) -> str:
        return json.dumps(
            {
                "name": self.name,
                "figures": self.figures,
                "bars": self.bars,
                "ok": self.ok,
                "machine": machine(),
            },
            indent=2,
        )


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"


def time_each(act: Callable[[str], object], inputs: Sequence[str]) -> list[float]:
    """Milliseconds of every call."""
    taken = []
    for text in inputs:
        start = perf_counter()
        act(text)
        taken.append((perf_counter() - start) * 1000)
    return taken


def percentiles(prefix: str, taken_ms: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(taken_ms, n=100)
    return {f"{prefix}_p50_ms": cuts[49], f"{prefix}_p95_ms": cuts[94]}
