"""The documents a preferences pass starts from, and the rule that lines a person wrote are carried on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.security.origin import Source
from crewsite.security.text import fold
from memory.documents import document_in_force
from memory.models import PreferencesDocument, ProjectsDocument
from memory.services.documents import LAYERS

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from memory.consolidation.schemas import ContradictedOut
    from memory.consolidation.transcript import Transcript

DocumentModel = type[PreferencesDocument] | type[ProjectsDocument]


@dataclass(frozen=True, slots=True)
class CurrentDocument:
    """A document as a pass found it. `version` 0: there is none yet."""

    model: DocumentModel
    version: int
    text: str
    human_lines: tuple[str, ...]

    @property
    def layer(self) -> str:
        return LAYERS[self.model]


def current_document(model: DocumentModel, workspace: Workspace) -> CurrentDocument:
    row = document_in_force(model, workspace)
    if row is None:
        return CurrentDocument(model, 0, "", ())
    # A person's version is theirs as a whole; what later versions still have of it stays theirs.
    theirs = (
        model.objects.filter(workspace=workspace, source=Source.USER_EXPLICIT).order_by("-version").first()
    )
    known = {fold(line) for line in theirs.text.splitlines()} if theirs is not None else set()
    lines = tuple(line for line in row.text.splitlines() if _says_something(line) and fold(line) in known)
    return CurrentDocument(model, row.version, row.text, lines)


def carried_on(
    text: str,
    current: CurrentDocument,
    *,
    contradicted: Sequence[ContradictedOut],
    transcript: Transcript,
) -> tuple[str, tuple[str, ...]]:
    """The new text with every human line in it, and the lines that had to be put back.

    A line may go only if a sentence the person really said in this stretch is named against it.
    """
    here = {fold(line) for line in text.splitlines()}
    released = {fold(item.line) for item in contradicted if transcript.holds(item.quote)}
    missing = tuple(
        line for line in current.human_lines if fold(line) not in here and fold(line) not in released
    )
    if not missing:
        return text, ()
    return "\n".join([text.rstrip(), *missing]).lstrip("\n"), missing


def _says_something(line: str) -> bool:
    """Headings, rules and blank lines are form, not content."""
    return any(map(str.isalnum, line)) and not line.lstrip().startswith("#")
