"""A stored context packet as people read it: blocks with their sizes, what its rows say with links to them,
and what was left out and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.urls import reverse

from crewsite.search.degradation import in_words
from crewsite.search.unmarked import unmarked
from memory.context.packet import packet_text
from memory.layers import layer_of

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

    Rows = dict[str, dict[int, Any]]  # kind of a source row -> id -> the row as it is now

# What a row says, in characters: more than the two lines of the drawer that are shown.
SOURCE_CHARS: Final = 160
# Kind of a source row -> the word people know it by.
WORDS: Final[dict[str, str]] = {"semantic": "fact", "episodic": "episode"}
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
MODES: Final[dict[str, str]] = {
    "incognito": "This conversation is incognito: memory was read and nothing is written to it.",
    "temporary": "This conversation is temporary: memory was neither read nor is it written.",
}


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One row: what it says (`key` only of a fact), and how it `ended` since, if it did."""

    citation: str
    word: str
    score: float | None
    url: str
    key: str
    text: str
    ended: str


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


def packet_page(packet: dict[str, Any], *, workspace: Workspace) -> PacketPage:
    """`workspace` is whose memory the packet was made of: its rows are read there, each kind at once."""
    rows = _rows(packet, workspace)
    views = [_block(block, workspace, rows) for block in packet.get("blocks", [])]
    shown = [view for view in views if view.text]
    mode = str(packet.get("mode", ""))
    return PacketPage(
        blocks=[view for view in shown if not view.with_message],
        added=[view for view in shown if view.with_message],
        left_out=[view for view in views if view.state != "admitted" or view.left_out_count],
        degraded=[in_words([code]) for code in packet.get("degraded", [])],
        total_chars=int(packet.get("total_chars", 0)),
        ceiling_chars=int(packet.get("ceiling_chars", 0)),
        window=packet.get("model_window"),
        mode=MODES.get(mode, ""),
        row_count=sum(len(view.sources) for view in shown),
        text=packet_text(packet),
    )


def _rows(packet: dict[str, Any], workspace: Workspace) -> Rows:
    wanted: dict[str, set[int]] = {}
    for block in packet.get("blocks", []):
        for source in (*block.get("sources", []), *block.get("left_out", [])):
            wanted.setdefault(str(source.get("kind", "")), set()).add(source.get("object_id"))
    layers = {kind: layer for kind in wanted if (layer := layer_of(kind))}
    return {kind: layer.rows(workspace).in_bulk(wanted[kind]) for kind, layer in layers.items()}


def _block(block: dict[str, Any], workspace: Workspace, rows: Rows) -> BlockView:
    name = str(block.get("name", ""))
    return BlockView(
        title=TITLES.get(name, name.replace("_", " ").capitalize()),
        marker=str(block.get("marker", "")),
        text=str(block.get("text", "")),
        chars=int(block.get("chars", 0)),
        cap=block.get("cap"),
        state=str(block.get("state", "admitted")),
        reason=_reason(block),
        sources=[_source(source, workspace, rows) for source in block.get("sources", [])],
        left_out=[_source(source, workspace, rows) for source in block.get("left_out", [])],
        left_out_count=int(block.get("left_out_count", 0)),
        with_message=block.get("placement") == "message",
    )


def _reason(block: dict[str, Any]) -> str:
    """Without the ids it may end with: the page lists those with their links."""
    reason = str(block.get("reason", ""))
    return reason.partition(": ")[0] if block.get("left_out") else reason


def _source(source: dict[str, Any], workspace: Workspace, rows: Rows) -> SourceLine:
    kind, object_id = str(source.get("kind", "")), source.get("object_id")
    layer, row = layer_of(kind), rows.get(kind, {}).get(object_id)  # type: ignore[arg-type]
    text = layer.text(row) if layer and row else ""
    key = row.key if kind == "semantic" and row else ""
    lines = [line.strip() for line in unmarked(text.removeprefix(f"{key}: ")).splitlines()]
    text = " · ".join(filter(None, lines))
    citation = str(source.get("citation") or f"{kind} {object_id or ''}".strip())
    return SourceLine(
        citation=citation,
        word=WORDS.get(kind, kind),
        score=source.get("score"),
        url=_row_url(kind, object_id, citation, workspace) if row else "",
        key=key,
        text=text if len(text) <= SOURCE_CHARS else f"{text[: SOURCE_CHARS - 1]}…",
        ended=_ended(row) if layer else "",
    )


def _ended(row: Any) -> str:
    """What became of the row since; rows of some kinds are deleted, those of others replaced."""
    if row is None:
        return "gone for good"
    if getattr(row, "replaced_at", None) or getattr(row, "superseded_by_id", None):
        return "replaced since"
    return "deleted since" if getattr(row, "deleted_at", None) else ""


def _row_url(kind: str, object_id: Any, citation: str, workspace: Workspace) -> str:
    """The page of the very row, whatever has taken its place since."""
    layer = layer_of(kind)
    if layer is None or not object_id:
        return ""
    name = citation if ":" in layer.prefix else f"{layer.prefix}:{object_id}"
    return f"{reverse('dashboard:cited', args=[name])}?workspace={workspace.slug}"
