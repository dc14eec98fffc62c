"""The graph page: an SVG drawn on the server, and the same as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.utils.html import format_html, format_html_join
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from crewsite.dashboard.graph import (
    EDGE_KINDS,
    HIDDEN_AT_FIRST,
    NODE_KINDS,
    layout_edges,
    memory_graph,
    neighbours,
    placed,
)
from crewsite.dashboard.graph_layout import layout
from crewsite.dashboard.graph_similar import SIMILAR_FROM, SIMILAR_SHOWN_FROM
from crewsite.dashboard.place import in_place, page
from crewsite.dashboard.tables import TABLES

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

    from crewsite.dashboard.graph import Edge, Graph, Node
    from crewsite.dashboard.place import Place

# What a few nodes stand in: small enough to fill the page, wide enough for their names beside them.
ROOM_WIDTH: Final = 420
ROOM_HEIGHT: Final = 240
NAMED_NODES: Final = 40  # up to so many, each node has its name beside it


def view_box(width: float, height: float) -> str:
    """A small drawing stands in the middle of a room that leaves nodes and labels their size."""
    room_x, room_y = max(width, ROOM_WIDTH), max(height, ROOM_HEIGHT)
    return f"{(width - room_x) / 2:g} {(height - room_y) / 2:g} {room_x:g} {room_y:g}"


def lines_between(graph: Graph, by_id: dict[str, Node]) -> SafeString:
    """Put together here: a template takes ten times as long for as many lines, half of the page's time."""
    return format_html_join(
        "",
        '<path class="e-{}" d="M{} {}L{} {}" data-a="{}" data-b="{}"{}/>',
        (
            (edge.kind, one.x, one.y, other.x, other.y, one.id, other.id, _likeness(edge))
            for edge in graph.edges
            for one, other in [(by_id[edge.source], by_id[edge.target])]
        ),
    )


def _height(node: Node) -> tuple[bool, bool]:
    """Prefixes are drawn last, the top ones above all: their names lie over what stands around them."""
    return node.kind == "prefix", "." not in node.id


def _likeness(edge: Edge) -> str:
    return format_html(' data-c="{}"', edge.cosine) if edge.cosine else ""


# Compressed, because five hundred nodes say much the same; Django pads the answer against BREACH.
@gzip_page
@require_GET
@in_place
def memory_graph_page(request: HttpRequest, place: Place) -> HttpResponse:
    graph = memory_graph(place)
    places, width, height = layout(tuple(node.id for node in graph.nodes), tuple(layout_edges(graph)))
    graph = placed(graph, places)
    by_id = {node.id: node for node in graph.nodes}
    near = neighbours(graph)
    counts, edge_counts = graph.node_counts(), graph.edge_counts()
    context = {
        "tables": list(TABLES.values()),
        "graph": graph,
        "drawn": sorted(graph.nodes, key=_height),
        "is_small": len(graph.nodes) <= NAMED_NODES,
        "box": view_box(width, height),
        "lines": lines_between(graph, by_id),
        "told": [
            (node, [(EDGE_KINDS[kind], by_id[other]) for kind, other in near[node.id]])
            for node in graph.nodes
        ],
        "node_kinds": [
            (kind, label, counts[kind], kind not in HIDDEN_AT_FIRST)
            for kind, label in NODE_KINDS.items()
            if counts[kind]
        ],
        "edge_kinds": [
            (kind, label, edge_counts[kind]) for kind, label in EDGE_KINDS.items() if edge_counts[kind]
        ],
        "left_out": sum(graph.left_out.values()),
        "similar_from": f"{SIMILAR_FROM:.2f}",
        "similar_shown_from": f"{SIMILAR_SHOWN_FROM:.2f}",
    }
    return page(request, place, "dashboard/graph.html", context)
