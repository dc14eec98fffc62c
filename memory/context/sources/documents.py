"""Layers 1 and 2 in a prompt: the preferences and projects of the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from memory.context.constants import AUTHORITY_DOCUMENTS, MARKER_MEMORY
from memory.context.cuts import cut_at_line
from memory.context.packet import Block, BlockState, SourceRef
from memory.context.stored import stored_text
from memory.models import PreferencesDocument, ProjectsDocument, VersionedDocument

if TYPE_CHECKING:
    from memory.context.request import ContextRequest


class DocumentsSource:
    name: ClassVar[str] = "documents"
    is_memory: ClassVar[bool] = True

    def collect(self, request: ContextRequest) -> list[Block]:
        if not request.opens:
            return []
        sections = request.caps.sections
        found = [
            _block("preferences", "Preferences", PreferencesDocument, request, sections.preferences),
            _block("projects", "Projects", ProjectsDocument, request, sections.projects),
        ]
        return [block for block in found if block is not None]


def _block(
    name: str, title: str, model: type[VersionedDocument], request: ContextRequest, cap: int
) -> Block | None:
    row = model.objects.in_workspace(request.workspace).live().first()
    text = stored_text(row.text) if row is not None else ""
    if row is None or not text:
        return None
    citation = f"doc:{name}"
    heading = f"{MARKER_MEMORY} {title} (source: {name}, version {row.version}) [{citation}]"
    # The cap is the text's, as it was when it was written: one that just fits it stands here whole.
    shown = cut_at_line(text, cap)
    cut = shown != text
    return Block(
        name=name,
        marker=MARKER_MEMORY,
        authority=AUTHORITY_DOCUMENTS,
        text=f"{heading}\n{shown}",
        cap=len(heading) + 1 + cap,
        sources=(SourceRef(kind=name, object_id=row.pk, citation=citation),),
        state=BlockState.TRIMMED if cut else BlockState.ADMITTED,
        reason=f"cut to {len(shown):,} of {len(text):,} characters" if cut else "",
    )
