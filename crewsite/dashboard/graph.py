"""The memory graph: which rows are its nodes and what connects them. Where they stand is `graph_layout`."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from django.urls import reverse

from crewsite.conversations.models import Conversation
from crewsite.dashboard.graph_similar import SIMILAR_SHOWN_FROM, similar_pairs
from lessons.models import Lesson
from memory.constants import MIN_QUOTED_CHARS
from memory.models import EpisodicMemory, SemanticMemory
from memory.rules import render_value, value_words
from memory.services.retire import quotes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from crewsite.dashboard.place import Place

MAX_NODES: Final = 500  # chapter 06, 6.6; more could be neither drawn in a second nor read
MAX_PAST: Final = 60
MAX_CONVERSATIONS: Final = 100
LABEL_CHARS: Final = 80
# Filters of the page in this order: what is drawn, what it is called, whether it is shown at first.
NODE_KINDS: Final = {
    "prefix": "Key prefixes",
    "fact": "Facts",
    "lesson": "Lessons",
    "episode": "Episodes",
    "talk": "Conversations",
    "past": "Replaced rows",
}
EDGE_KINDS: Final = {
    "prefix": "Same prefix",
    "derived": "Derived from",
    "supersedes": "Supersedes",
    "quotes": "Quotes",
    "similar": "Similar",
}
HIDDEN_AT_FIRST: Final = frozenset({"past"})
SHORT_CHARS: Final = 22
TABS: Final = {"fact": "facts", "lesson": "lessons", "episode": "episodes"}


@dataclass(frozen=True, slots=True)
class Node:
    id: str
    kind: str
    label: str
    link: str = ""
    folded: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def short(self) -> str:
        """Whole words of the label that fit beside a dot: what is read aloud must hold what is seen. Of a
        prefix the last part, as the one before stands beside it."""
        if self.kind == "prefix":
            return self.id.rpartition(".")[2].removeprefix("p:")[:SHORT_CHARS]
        return shorten(self.label, SHORT_CHARS, placeholder="") or self.label[:SHORT_CHARS]


@dataclass(frozen=True, slots=True)
class Edge:
    source: str
    target: str
    kind: str
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class Graph:
    """`left_out` rows stand behind the folded nodes, by kind."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: dict[str, int]

    def node_counts(self) -> dict[str, int]:
        return Counter(node.kind for node in self.nodes)

    def edge_counts(self) -> dict[str, int]:
        return Counter(edge.kind for edge in self.edges)


@dataclass(slots=True)
class _Rows:
    """What is drawn of each layer, newest first, and how many there are."""

    facts: list[SemanticMemory]
    lessons: list[Lesson]
    episodes: list[EpisodicMemory]
    totals: dict[str, int]


def memory_graph(place: Place, *, limit: int = MAX_NODES) -> Graph:
    rows = _rows(place, limit)
    prefixes, prefix_edges, left_out = _prefix_tree(place, rows, limit)
    nodes = [*prefixes, *map(_fact_node, rows.facts), *map(_lesson_node, rows.lessons)]
    nodes += map(_episode_node, rows.episodes)
    edges = [*prefix_edges, *_quoted(rows), *_doubts(rows)]
    folded, more_left_out = _folded(rows)
    nodes += folded
    for found_nodes, found_edges in (
        _talks(place, rows, room=limit - len(nodes)),
        _past(rows, room=limit - len(nodes) - MAX_CONVERSATIONS),
    ):
        nodes += found_nodes
        edges += found_edges
    edges += [
        Edge(f"{one}", f"{other}", "similar", cosine)
        for one, other, cosine in similar_pairs(place.home.pk, _ids(rows))
    ]
    drawn = nodes[:limit]
    known = {node.id for node in drawn}
    kept = [edge for edge in edges if edge.source in known and edge.target in known]
    return Graph(tuple(drawn), tuple(kept), left_out | more_left_out)


def layout_edges(graph: Graph) -> list[tuple[str, str]]:
    """What pulls nodes together: everything but likeness that the page does not show at first."""
    return [
        (edge.source, edge.target)
        for edge in graph.edges
        if edge.kind != "similar" or edge.cosine >= SIMILAR_SHOWN_FROM
    ]


def shares(totals: dict[str, int], room: int) -> dict[str, int]:
    """How many rows of each kind are drawn: all if they fit, else none more than an even share leaves."""
    taken = dict.fromkeys(totals, 0)
    while room > 0 and (wanting := [kind for kind, total in totals.items() if taken[kind] < total]):
        share = max(1, room // len(wanting))
        for kind in wanting:
            more = min(share, totals[kind] - taken[kind], room)
            taken[kind] += more
            room -= more
    return taken


def _rows(place: Place, limit: int) -> _Rows:
    facts = SemanticMemory.objects.in_home(place.home)
    lessons = Lesson.objects.in_home(place.home)
    episodes = EpisodicMemory.objects.in_home(place.home)
    totals = {"fact": facts.count(), "lesson": lessons.count(), "episode": episodes.count()}
    # A fifth is kept for prefixes and conversations, without which the rest hangs together by nothing.
    taken = shares(totals, limit - limit // 5) if sum(totals.values()) > limit - limit // 5 else totals
    return _Rows(
        facts=list(facts.order_by("-updated_at")[: taken["fact"]]),
        lessons=list(lessons.by_rank()[: taken["lesson"]]),
        episodes=list(episodes.order_by("-created_at")[: taken["episode"]]),
        totals=totals,
    )


def _prefix_tree(place: Place, rows: _Rows, limit: int) -> tuple[list[Node], list[Edge], dict[str, int]]:
    """A node for each prefix of a drawn key; keys that are not drawn are counted in the nearest one.

    A prefix with one key under it says nothing that the key does not, so only the first part always stands.
    """
    drawn = [row.key for row in rows.facts]
    counts = Counter(prefix for key in drawn for prefix in _prefixes(key))
    kept = {prefix for prefix, count in counts.items() if count > 1 or "." not in prefix}
    hidden: Counter[str] = Counter()
    if rows.totals["fact"] > len(drawn):
        keys = SemanticMemory.objects.in_home(place.home).exclude(pk__in=[row.pk for row in rows.facts])
        for key in keys.values_list("key", flat=True):
            hidden[_parent(key, kept) or key.split(".")[0]] += 1
    kept |= set(hidden)
    biggest = sorted(kept, key=lambda prefix: (prefix.count("."), -counts[prefix], prefix))[: limit // 10]
    shown = set(biggest)
    nodes = [_prefix_node(prefix, hidden[prefix]) for prefix in sorted(shown)]
    edges = [
        Edge(f"p:{parent}", f"p:{prefix}", "prefix") for prefix in shown if (parent := _parent(prefix, shown))
    ]
    edges += [
        Edge(f"p:{parent}", f"f{row.pk}", "prefix")
        for row in rows.facts
        if (parent := _parent(row.key, shown))
    ]
    return nodes, edges, {"fact": sum(hidden.values())} if hidden else {}


def _prefixes(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _parent(key: str, shown: set[str]) -> str:
    prefix = key.rpartition(".")[0]
    while prefix and prefix not in shown:
        prefix = prefix.rpartition(".")[0]
    return prefix


def _prefix_node(prefix: str, hidden: int) -> Node:
    link = f"{reverse('dashboard:memory', args=['facts'])}?{urlencode({'prefix': prefix})}"
    label = f"{prefix}, with {hidden} more" if hidden else prefix
    return Node(f"p:{prefix}", "prefix", label, link, folded=hidden)


def _fact_node(row: SemanticMemory) -> Node:
    return Node(
        f"f{row.pk}", "fact", _short(f"{row.key}: {value_words(row.value)}"), _row_link("fact", row.pk)
    )


def _lesson_node(row: Lesson) -> Node:
    return Node(f"l{row.pk}", "lesson", _short(row.rule), _row_link("lesson", row.pk))


def _episode_node(row: EpisodicMemory) -> Node:
    return Node(f"e{row.pk}", "episode", _short(row.text), _row_link("episode", row.pk))


def _folded(rows: _Rows) -> tuple[list[Node], dict[str, int]]:
    """One node for the lessons and one for the episodes that are not drawn."""
    nodes, left_out = [], {}
    for kind, drawn in (("lesson", rows.lessons), ("episode", rows.episodes)):
        more = rows.totals[kind] - len(drawn)
        if more > 0:
            left_out[kind] = more
            link = reverse("dashboard:memory", args=[TABS[kind]])
            nodes.append(Node(f"{kind[0]}:more", kind, f"{more} more {TABS[kind]}", link, folded=more))
    return nodes, left_out


def _talks(place: Place, rows: _Rows, *, room: int) -> tuple[list[Node], list[Edge]]:
    """Conversations that drawn rows come from. The title is for those who may open it."""
    edges = [
        Edge(f"{letter}{row.pk}", f"c{row.conversation_id.hex}", "derived")
        for letter, row in _lettered(rows)
        if row.conversation_id
    ]
    often = Counter(edge.target for edge in edges)
    chosen = [node_id for node_id, _ in often.most_common(max(0, min(room, MAX_CONVERSATIONS)))]
    mine = Conversation.objects.for_user(place.user).filter(pk__in=[node_id[1:] for node_id in chosen])
    titles = {f"c{row.pk.hex}": row for row in mine.only("pk", "title")}
    nodes = []
    for node_id in chosen:
        talk = titles.get(node_id)
        link = reverse("chat:conversation", args=[talk.pk]) if talk else ""
        label = _short(str(talk)) if talk else "A conversation of somebody else"
        nodes.append(Node(node_id, "talk", label, link))
    return nodes, edges


def _past(rows: _Rows, *, room: int) -> tuple[list[Node], list[Edge]]:
    """What drawn facts and lessons took the place of, the latest first."""
    room = max(0, min(room, MAX_PAST))
    nodes, edges = [], []
    for letter, model, tab, drawn in (
        ("f", SemanticMemory, "fact", rows.facts),
        ("l", Lesson, "lesson", rows.lessons),
    ):
        ids: Iterable[int] = [row.pk for row in drawn]
        manager: Any = model.all_objects
        for row in manager.filter(superseded_by__in=ids, is_deleted=True).order_by("-deleted_at")[:room]:
            label = row.rule if letter == "l" else f"{row.key}: {value_words(row.value)}"
            nodes.append(Node(f"{letter}{row.pk}", "past", _short(label), _row_link(tab, row.pk)))
            edges.append(Edge(f"{letter}{row.superseded_by_id}", f"{letter}{row.pk}", "supersedes"))
    return nodes[:room], edges


def _doubts(rows: _Rows) -> list[Edge]:
    return [
        Edge(f"e{row.pk}", f"e{row.possibly_supersedes_id}", "supersedes")
        for row in rows.episodes
        if row.possibly_supersedes_id
    ]


def _quoted(rows: _Rows) -> list[Edge]:
    """Episodes and lessons that hold a fact's value word for word. Containment, being cheap, goes first."""
    texts = [(f"e{row.pk}", row.text) for row in rows.episodes]
    texts += [(f"l{row.pk}", row.rule) for row in rows.lessons]
    edges = []
    for fact in rows.facts:
        value = render_value(fact.value).strip()
        # A number or a truth value stands in many texts by chance.
        if len(value) < MIN_QUOTED_CHARS or not any(map(str.isalpha, value)):
            continue
        edges += [
            Edge(node_id, f"f{fact.pk}", "quotes")
            for node_id, text in texts
            if value in text and quotes(text, value)
        ]
    return edges


def _lettered(rows: _Rows) -> list[tuple[str, Any]]:
    return [
        *(("f", row) for row in rows.facts),
        *(("l", row) for row in rows.lessons),
        *(("e", row) for row in rows.episodes),
    ]


def _ids(rows: _Rows) -> dict[str, Sequence[int]]:
    return {
        "semantic": [row.pk for row in rows.facts],
        "lesson": [row.pk for row in rows.lessons],
        "episodic": [row.pk for row in rows.episodes],
    }


def _row_link(kind: str, pk: int) -> str:
    return reverse("dashboard:row", args=[TABS[kind], pk])


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"


def placed(graph: Graph, places: dict[str, tuple[float, float]]) -> Graph:
    nodes = tuple(replace(node, x=places[node.id][0], y=places[node.id][1]) for node in graph.nodes)
    return replace(graph, nodes=nodes)


def neighbours(graph: Graph) -> dict[str, list[tuple[str, str]]]:
    """By node: what it is connected to and how. The text alternative is written from it."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for edge in graph.edges:
        found[edge.source].append((edge.kind, edge.target))
        found[edge.target].append((edge.kind, edge.source))
    return found
