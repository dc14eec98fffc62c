"""The health report as pages show it. What is measured, and how, belongs to the API's health module."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils import timezone

from crewsite.api.health import readiness
from crewsite.dashboard.remedies import Remedy, remedies
from crewsite.jobs.selectors import worker_seen

# What the report calls by the name of its code, as people call it.
ENGINE_WORDS: Final = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "fts5": "SQLite",
    "portable": "Crewsite's own",
    "faiss": "FAISS",
    "numpy": "NumPy",
}
PROVIDER_WORDS: Final = {"endpoint": "through an endpoint", "llama": "from a file", "acp": "a coding agent"}


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the site: `says` is what there is to know about it, in short phrases."""

    code: str
    name: str
    report: dict[str, Any]
    says: list[str]

    @property
    def state(self) -> str:
        return str(self.report.get("state") or "ready")


@dataclass(frozen=True, slots=True)
class SiteHealth:
    report: dict[str, Any]
    problems: list[Remedy]
    worker_seen: datetime | None
    at: datetime

    @property
    def parts(self) -> list[Part]:
        said = {
            "embedder": ("Embedding model", _embedder_says),
            "llm": ("Language model", _llm_says),
            "index": ("Search index", _index_says),
            "database": ("Database", _database_says),
            "worker": ("Background worker", _worker_says),
        }
        return [
            Part(code, name, self.report[code], says(self.report[code]))
            for code, (name, says) in said.items()
        ]

    @property
    def is_well(self) -> bool:
        return not self.problems


def site_health() -> SiteHealth:
    report = readiness()
    return SiteHealth(
        report=dict(report),
        problems=remedies(list(report["degraded"])),
        worker_seen=worker_seen(),
        at=timezone.now(),
    )


def _embedder_says(part: dict[str, Any]) -> list[str]:
    size = [f"{part['dim']:,} dimensions"] if part.get("dim") else []
    return [part.get("model_id") or "none", *size]


def _llm_says(part: dict[str, Any]) -> list[str]:
    if not part.get("model"):
        return ["none; chat answers from memory alone"]
    provider = str(part.get("provider", ""))
    return [part["model"], PROVIDER_WORDS.get(provider, provider)]


def _index_says(part: dict[str, Any]) -> list[str]:
    if "documents" not in part:
        return []
    return [
        f"{part['documents']:,} texts",
        f"Waiting to be indexed: {part['lag']:,}",
        f"Keyword search: {_engine(part['keyword_engine'])}",
        f"Search by meaning: {_engine(part['engine'])}",
    ]


def _database_says(part: dict[str, Any]) -> list[str]:
    return [_engine(part["engine"])] if part.get("engine") else []


def _worker_says(part: dict[str, Any]) -> list[str]:
    return [f"Schedules {part['schedules']}"] if part.get("schedules") else []


def _engine(code: str) -> str:
    return ENGINE_WORDS.get(code, code)
