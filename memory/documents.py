"""Layers 1 and 2 as a prompt shows them: the version in force, cut at a line when it is over its cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory.models import PreferencesDocument, ProjectsDocument

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

CUT_MARKER: Final = "…[cut: the document is longer than its share of the prompt]"

Document = PreferencesDocument | ProjectsDocument


def document_in_force(model: type[Document], workspace: Workspace) -> Document | None:
    return model.objects.filter(workspace=workspace, replaced_at__isnull=True).first()  # type: ignore[return-value]


def fit_document(text: str, *, cap: int) -> tuple[str, bool]:
    """The text within `cap` characters, and whether it was cut. Whole lines are kept, the marker counts."""
    if len(text) <= cap:
        return text, False
    room = cap - len(CUT_MARKER) - 1
    if room <= 0:
        return "", True
    head = text[: room + 1]
    kept = head[: head.rfind("\n")] if "\n" in head else ""
    return f"{kept.rstrip()}\n{CUT_MARKER}".lstrip("\n"), True
