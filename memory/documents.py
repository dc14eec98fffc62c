"""Layers 1 and 2 as they are read: the version in force, and what changed between two versions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from memory.constants import DIFF_CONTEXT_LINES
from memory.models import PreferencesDocument, ProjectsDocument

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

Document = PreferencesDocument | ProjectsDocument


def document_in_force(model: type[Document], workspace: Workspace) -> Document | None:
    return model.objects.filter(workspace=workspace, replaced_at__isnull=True).first()  # type: ignore[return-value]


_WORDS: Final = re.compile(r"\w+|\s+|.")
# Less alike, two lines are two texts, in which marked words would be noise. Longer ones are not compared:
# time grows with the square.
ALIKE_FROM: Final = 0.5
COMPARED_MAX_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    is_changed: bool = False


Pieces = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`gap` stands for equal lines that are left out; its text says how many. `pieces` are the text in parts,
    with what the other side does not say; one part where the line as a whole is new or gone.
    """

    kind: Literal["same", "added", "removed", "gap"]
    text: str
    marked: Pieces = ()

    @property
    def pieces(self) -> Pieces:
        return self.marked or (Piece(self.text),)

    @property
    def sign(self) -> str:
        return {"same": " ", "added": "+", "removed": "-", "gap": "…"}[self.kind]


def line_diff(old: str, new: str, *, around: int = DIFF_CONTEXT_LINES) -> tuple[DiffLine, ...]:
    """What changed line by line, with `around` equal lines on each side; nothing when the texts are equal."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[DiffLine] = []
    shown_until = 0
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(around):
        lines += _gap(group[0][1] - shown_until)
        for kind, a, b, c, d in group:
            if kind == "equal":
                lines += [DiffLine("same", text) for text in before[a:b]]
                continue
            pairs = zip_longest(before[a:b], after[c:d], fillvalue="")
            marks = [word_diff(one, other) for one, other in pairs]
            lines += [
                DiffLine("removed", text, mark[0]) for text, mark in zip(before[a:b], marks, strict=False)
            ]
            lines += [DiffLine("added", text, mark[1]) for text, mark in zip(after[c:d], marks, strict=False)]
        shown_until = group[-1][2]
    return (*lines, *_gap(len(before) - shown_until)) if lines else ()


def word_diff(old: str, new: str) -> tuple[Pieces, Pieces]:
    """Both lines in parts, each with the words marked that the other does not have; nothing for lines that
    have little in common.
    """
    if max(len(old), len(new)) > COMPARED_MAX_CHARS:
        return (), ()
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    kept = sum(_size(before[a:b]) for kind, a, b, _, _ in changes if kind == "equal")
    if 2 * kept < ALIKE_FROM * (_size(before) + _size(after)):
        return (), ()
    left = (Piece("".join(before[a:b]), kind != "equal") for kind, a, b, _, _ in changes if b > a)
    right = (Piece("".join(after[c:d]), kind != "equal") for kind, _, _, c, d in changes if d > c)
    return tuple(left), tuple(right)


def _size(words: list[str]) -> int:
    """Without the spaces between words, which any two texts share."""
    return sum(len(word) for word in words if not word.isspace())


def _gap(count: int) -> list[DiffLine]:
    return [DiffLine("gap", f"{count} {'line' if count == 1 else 'lines'} as before")] if count > 0 else []
