"""A stored context packet as people read it: blocks with their sizes, rows with links, and what was left out
and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.urls import NoReverseMatch, reverse

from memory.context.packet import packet_text

# Kind of a source row -> the admin page of that row, and the word people know it by.
ROW_PAGES: Final[dict[str, tuple[str, str]]] = {
    "semantic": ("admin:memory_semanticmemory_change", "fact"),
    "episodic": ("admin:memory_episodicmemory_change", "episode"),
    "lesson": ("admin:lessons_lesson_change", "lesson"),
    "preferences": ("admin:memory_preferencesdocument_change", "preferences"),
    "projects": ("admin:memory_projectsdocument_change", "projects"),
    "history": ("admin:memory_historyentry_change", "history"),
    "steering": ("admin:accounts_workspace_change", "workspace"),
    "workspace": ("admin:accounts_workspace_change", "workspace"),
}
KIND_ALIASES: Final = {"lessons": "lesson", "facts": "semantic", "episodes": "episodic"}
TITLES: Final[dict[str, str]] = {
    "preamble": "Rules and runtime",
    "authority": "What outweighs what",
    "agent": "Agent prompt",
    "agent_prompt": "Agent prompt",
    "semantic": "Facts",
    "episodic": "Episodes",
    "thread": "Earlier messages",
}


LIMITS: Final[dict[str, str]] = {
    "embedder_unavailable": "no search by meaning",
    "embedder_loading": "search by meaning was still loading",
    "embedding_deadline": "embedding took too long, so words alone decided",
    "index_behind": "the newest rows were found by words only",
    "keyword_index_rebuilt": "the keyword index was being rebuilt",
    "faiss_unavailable": "vectors were compared without FAISS",
}


@dataclass(frozen=True, slots=True)
class SourceLine:
    citation: str
    word: str
    score: float | None
    url: str


@dataclass(frozen=True, slots=True)
class BlockView:
    title: str
    marker: str
    text: str
    chars: int
    cap: int | None
    state: str
    reason: str
    sources: list[SourceLine]
    left_out: list[SourceLine]
    left_out_count: int


@dataclass(frozen=True, slots=True)
class PacketPage:
    blocks: list[BlockView]
    left_out: list[BlockView]
    degraded: list[str]
    total_chars: int
    row_count: int
    text: str


def packet_page(packet: dict[str, Any], *, show_links: bool) -> PacketPage:
    """`show_links`: row pages are in admin, so only staff get links to them."""
    views = [_block(block, show_links=show_links) for block in packet.get("blocks", [])]
    return PacketPage(
        blocks=[view for view in views if view.text],
        left_out=[view for view in views if view.state != "admitted" or view.left_out_count],
        degraded=[LIMITS.get(code, code.replace("_", " ")) for code in packet.get("degraded", [])],
        total_chars=int(packet.get("total_chars", 0)),
        row_count=sum(len(view.sources) for view in views if view.text),
        text=packet_text(packet),
    )


def _block(block: dict[str, Any], *, show_links: bool) -> BlockView:
    name = str(block.get("name", ""))
    return BlockView(
        title=TITLES.get(name, name.replace("_", " ").capitalize()),
        marker=str(block.get("marker", "")),
        text=str(block.get("text", "")),
        chars=int(block.get("chars", 0)),
        cap=block.get("cap"),
        state=str(block.get("state", "admitted")),
        reason=str(block.get("reason", "")),
        sources=[_source(source, show_links=show_links) for source in block.get("sources", [])],
        left_out=[_source(source, show_links=show_links) for source in block.get("left_out", [])],
        left_out_count=int(block.get("left_out_count", 0)),
    )


def _source(source: dict[str, Any], *, show_links: bool) -> SourceLine:
    kind = str(source.get("kind", ""))
    object_id = source.get("object_id")
    route, word = ROW_PAGES.get(KIND_ALIASES.get(kind, kind), ("", kind))
    return SourceLine(
        citation=str(source.get("citation") or f"{kind} {object_id or ''}".strip()),
        word=word,
        score=source.get("score"),
        url=_row_url(route, object_id) if show_links and route and object_id else "",
    )


def _row_url(route: str, object_id: Any) -> str:
    try:
        return reverse(route, args=[object_id])
    except NoReverseMatch:
        return ""
