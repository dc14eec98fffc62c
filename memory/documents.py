"""Layers 1 and 2 as they are read: the version in force, and what changed between two versions."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

from memory.constants import DIFF_CONTEXT_LINES
from memory.models import PreferencesDocument, ProjectsDocument

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

Document = PreferencesDocument | ProjectsDocument


def document_in_force(model: type[Document], workspace: Workspace) -> Document | None:
    return model.objects.filter(workspace=workspace, replaced_at__isnull=True).first()  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """`gap` stands for equal lines that are left out; its text says how many."""

    kind: Literal["same", "added", "removed", "gap"]
    text: str

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
            lines += [DiffLine("removed", text) for text in before[a:b]]
            lines += [DiffLine("added", text) for text in after[c:d]]
        shown_until = group[-1][2]
    return (*lines, *_gap(len(before) - shown_until)) if lines else ()


def _gap(count: int) -> list[DiffLine]:
    return [DiffLine("gap", f"{count} {'line' if count == 1 else 'lines'} as before")] if count > 0 else []
