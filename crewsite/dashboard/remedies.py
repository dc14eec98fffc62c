"""What each degradation means to a person and what they can do about it, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crewsite.search.degradation import WORDS


@dataclass(frozen=True, slots=True)
class Remedy:
    code: str
    title: str
    effect: str
    action: str = ""
    command: str = ""
    link: str = ""  # the route of a page that only an operator may open, and its words
    link_words: str = ""


def _not_searched(code: str) -> Remedy:
    return Remedy(
        code,
        WORDS[code].capitalize(),
        "The other kinds answered; nothing stored is lost.",
        "The log of the web process names the reason. To look closer:",
        "crew status",
    )


MODELS_PAGE: Final = "dashboard:settings-models"
REMEDIES: Final[dict[str, Remedy]] = {
    remedy.code: remedy
    for remedy in (
        Remedy(
            "embedder_unavailable",
            "No embedding model",
            "Search goes by words, not by meaning.",
            "Install the compact model:",
            "crew embeddings install",
        ),
        Remedy("embedder_loading", "The embedding model is loading", "Search by meaning starts in seconds."),
        Remedy(
            "index_behind",
            "Vectors are being written",
            "The newest rows are found by words; by meaning once the worker has caught up.",
        ),
        Remedy(
            "index_failed",
            "The search index does not answer",
            "Search may miss rows; nothing stored is lost.",
            "The log of the web process names the reason. To look closer:",
            "crew status",
        ),
        Remedy(
            "keyword_index_rebuilt",
            "The keyword index was rebuilt",
            "It was damaged and has been made again from the rows. Nothing is lost.",
        ),
        Remedy(
            "keyword_index_behind",
            "The keyword index is being filled",
            "Some older rows are not found by words yet; the worker is catching up.",
        ),
        Remedy(
            "keyword_index_broken",
            "The keyword index is broken",
            "Texts are read one by one: slower, and in a plainer order. Nothing is lost.",
            "The log of the web process names the reason. To make it again:",
            "crew embeddings rebuild",
        ),
        *(_not_searched(code) for code in WORDS if code.endswith("_failed")),
        Remedy(
            "faiss_unavailable",
            "FAISS is not usable",
            "Vectors are compared one by one: the same answers, slower.",
            "Install it again:",
            "pip install --force-reinstall faiss-cpu",
        ),
        Remedy(
            "worker_absent",
            "No background worker",
            "Schedules, backfill and pruning wait. Chat, search and admin go on.",
            "Start web and worker together:",
            "crew run",
        ),
        Remedy(
            "llm_not_configured",
            "No language model is connected",
            "Chat answers from memory alone, and consolidation waits for a model.",
            "The operator connects one under Settings, or with CREW_LLM_BASE_URL and CREW_LLM_MODEL.",
            link=MODELS_PAGE,
            link_words="Connect a model",
        ),
        Remedy(
            "llm_unreachable",
            "The model endpoint does not answer",
            "Questions fail with the reason and can be retried; nothing is lost.",
            "Check that it runs; under Settings the operator tests the connection.",
            link=MODELS_PAGE,
            link_words="Test the connection",
        ),
        Remedy(
            "database_unavailable",
            "The database does not answer",
            "Nothing can be read or written.",
            "Check this setting, free disk space and permissions:",
            "DATABASE_URL",
        ),
        Remedy(
            "disk_full",
            "The disk is nearly full",
            "Reading works; changes are refused once nothing fits any more. Nothing stored is lost.",
            "Make room where this points to:",
            "CREW_HOME",
        ),
        Remedy(
            "read_only",
            "The home of this site is write-protected",
            "Nothing can be saved.",
            "Check owner and permissions of:",
            "CREW_HOME",
        ),
        Remedy(
            "maintenance",
            "The site is under maintenance",
            "Reading works; changes are refused until it is over.",
            "Whoever began it ends it with:",
            "crew maintenance end",
        ),
        Remedy("embedding_deadline", "Embedding took too long", "This packet was built from words alone."),
    )
}


def remedies(codes: list[str]) -> list[Remedy]:
    """One entry for each code, in order; an unknown code is shown as it is."""
    return [REMEDIES.get(code) or _unknown(code) for code in codes]


def _unknown(code: str) -> Remedy:
    return Remedy(code, code.replace("_", " ").capitalize(), "The log says more.")
