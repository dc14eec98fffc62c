"""Every block header the code writes is one that stored text cannot write."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from crewsite.security.markers import BARE_MARKERS, MARKERS

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("crewsite", "memory", "lessons", "skills", "knowledge")
# A header stands at the start of a line and begins with a capital. Classes of expressions are no headers.
HEADER = re.compile(r"^\[(?:/|END OF )?([A-Z][A-Za-z —’'-]{3,60}:?)\](?!\()", re.MULTILINE)


def literals(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def headers() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for literal in literals(path):
                for header in HEADER.findall(literal):
                    if not re.search("A-Z|a-z", header):
                        yield f"[{header}]", path.relative_to(ROOT)


def test_every_block_header_in_the_code_is_a_known_marker() -> None:
    known = {marker.lower() for marker in MARKERS}
    unknown = {(header, str(path)) for header, path in headers() if header.lower() not in known}
    assert unknown == set(), "add these to crewsite/security/markers.py"


def test_the_search_for_headers_finds_those_the_list_itself_holds() -> None:
    assert {header for header, _ in headers()} >= {"[Learned corrections]", "[THREAD CONVERSATION HISTORY]"}


def test_no_marker_is_listed_twice() -> None:
    listed = [marker.lower() for marker in (*MARKERS, *BARE_MARKERS)]
    assert len(listed) == len(set(listed))
