"""Where the nodes of the graph stand: each connected part is laid out by networkx, then the parts are packed.
Pure, and the same every time.

Part by part costs the sum of squares instead of the square of the sum, and nothing drifts away.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

SPACING: Final = 34.0  # between neighbours, in units of the drawing; a node is some 12 wide
MARGIN: Final = 40.0
SEED: Final = 7
DRAWINGS_KEPT: Final = 8
# Big parts get fewer rounds: the time of one grows with the square, and the shape is there early.
ROUNDS: Final = 60
ROUNDS_OF_BIG_PARTS: Final = 20
BIG_PART: Final = 150
# Nothing crosses in a small tree that starts with a sector for each branch. There are many, such as a row and
# the conversation it comes from: their rounds took most of the time of five hundred nodes.
SMALL_TREE: Final = 6

Places = dict[str, tuple[float, float]]


@lru_cache(maxsize=DRAWINGS_KEPT)
def layout(nodes: tuple[str, ...], edges: tuple[tuple[str, str], ...]) -> tuple[Places, float, float]:
    """Place of every node, and width and height of the drawing. Kept, for whoever looks again."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    parts = sorted(nx.connected_components(graph), key=lambda part: (-len(part), min(part)))
    singles = [node for part in parts if len(part) == 1 for node in part]
    boxes = [_part(graph.subgraph(sorted(part))) for part in parts if len(part) > 1]
    if singles:
        boxes.append(_grid(singles))
    return _packed(boxes)


def _part(graph: Any) -> Places:
    import networkx as nx

    size = graph.number_of_nodes()
    rounds = ROUNDS if size <= BIG_PART else ROUNDS_OF_BIG_PARTS
    found: Any = _radial(graph)
    if size > SMALL_TREE or graph.number_of_edges() >= size:
        # By force, whatever the size: the other method needs scipy.
        found = nx.spring_layout(
            graph, pos=found, iterations=rounds, seed=SEED, method="force", k=1.6 / math.sqrt(size)
        )
    reach = SPACING * math.sqrt(size)
    return {node: (float(x) * reach, float(y) * reach) for node, (x, y) in found.items()}


def _radial(graph: Any) -> Places:
    """Where the forces begin: a tree from the node with most neighbours, each branch in a sector of its own.

    From a random start the same number of rounds leaves branches wound around each other.
    """
    import networkx as nx

    root = max(graph, key=lambda node: (graph.degree(node), node))
    tree = nx.bfs_tree(graph, root)
    sizes: dict[str, int] = {}
    for node in reversed(list(tree)):
        sizes[node] = 1 + sum(sizes[child] for child in tree[node])
    places: Places = {root: (0.0, 0.0)}
    sectors = {root: (0.0, 2 * math.pi, 1)}
    for node in tree:
        begin, width, depth = sectors[node]
        for child in tree[node]:
            share = width * sizes[child] / max(1, sizes[node] - 1)
            angle = begin + share / 2
            places[child] = (depth * math.cos(angle), depth * math.sin(angle))
            sectors[child] = (begin, share, depth + 1)
            begin += share
    reach = max(1.0, *(abs(value) for place in places.values() for value in place))
    return {node: (x / reach, y / reach) for node, (x, y) in places.items()}


def _grid(nodes: Sequence[str]) -> Places:
    columns = max(1, math.ceil(math.sqrt(2 * len(nodes))))
    return {
        node: (SPACING * (index % columns), SPACING * (index // columns)) for index, node in enumerate(nodes)
    }


def _packed(boxes: Sequence[Places]) -> tuple[Places, float, float]:
    """Shelves, tallest first, about three wide for two high."""
    sized = [(*_size(box), box) for box in boxes]
    area = sum((width + MARGIN) * (height + MARGIN) for width, height, _ in sized)
    shelf_width = max([math.sqrt(1.6 * area), *(width + MARGIN for width, _, _ in sized)], default=0.0)
    places: Places = {}
    left = top = shelf = 0.0
    widest = 0.0
    for width, height, box in sorted(sized, key=lambda item: -item[1]):
        if left and left + width > shelf_width:
            left, top, shelf = 0.0, top + shelf + MARGIN, 0.0
        min_x, min_y = min(x for x, _ in box.values()), min(y for _, y in box.values())
        for node, (x, y) in box.items():
            places[node] = (round(x - min_x + left + MARGIN, 1), round(y - min_y + top + MARGIN, 1))
        left += width + MARGIN
        shelf = max(shelf, height)
        widest = max(widest, left)
    return places, round(widest + MARGIN, 1), round(top + shelf + 2 * MARGIN, 1)


def _size(box: Places) -> tuple[float, float]:
    xs, ys = [x for x, _ in box.values()], [y for _, y in box.values()]
    return max(xs) - min(xs), max(ys) - min(ys)
