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
    "critical_rules": "Rules",
    "omissions": "Note on what was left out",
    "channel": "Channel history",
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


MODES: Final[dict[str, str]] = {
    "incognito": "This conversation is incognito: memory was read and nothing is written to it.",
    "temporary": "This conversation is temporary: memory was neither read nor is it written.",
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
    with_message: bool

    @property
    def rows_unsaid(self) -> int:
        """How many rows are missing, where the reason does not say it."""
        return 0 if str(self.left_out_count) in self.reason else self.left_out_count


@dataclass(frozen=True, slots=True)
class PacketPage:
    """`blocks` stand before the conversation, `added` with the message that is answered."""

    blocks: list[BlockView]
    added: list[BlockView]
    left_out: list[BlockView]
    degraded: list[str]
    total_chars: int
    ceiling_chars: int
    window: int | None
    mode: str
    row_count: int
    text: str


def packet_page(packet: dict[str, Any], *, show_links: bool) -> PacketPage:
    """`show_links`: row pages are in admin, so only staff get links to them."""
    views = [_block(block, show_links=show_links) for block in packet.get("blocks", [])]
    shown = [view for view in views if view.text]
    mode = str(packet.get("mode", ""))
    return PacketPage(
        blocks=[view for view in shown if not view.with_message],
        added=[view for view in shown if view.with_message],
        left_out=[view for view in views if view.state != "admitted" or view.left_out_count],
        degraded=[LIMITS.get(code, code.replace("_", " ")) for code in packet.get("degraded", [])],
        total_chars=int(packet.get("total_chars", 0)),
        ceiling_chars=int(packet.get("ceiling_chars", 0)),
        window=packet.get("model_window"),
        mode=MODES.get(mode, ""),
        row_count=sum(len(view.sources) for view in shown),
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
        reason=_reason(block),
        sources=[_source(source, show_links=show_links) for source in block.get("sources", [])],
        left_out=[_source(source, show_links=show_links) for source in block.get("left_out", [])],
        left_out_count=int(block.get("left_out_count", 0)),
        with_message=block.get("placement") == "message",
    )


def _reason(block: dict[str, Any]) -> str:
    """Without the ids it may end with: the page lists those with their links."""
    reason = str(block.get("reason", ""))
    return reason.partition(": ")[0] if block.get("left_out") else reason


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
