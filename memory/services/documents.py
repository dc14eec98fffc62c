"""Replacing layers 1 and 2 whole; every version is kept (chapter 02, 2.1)."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final, TypeVar

from django.utils import timezone

from crewsite.rows import SHORTEST_LIFE
from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.text import clean
from memory.constants import PREFERENCES_MAX_CHARS, PROJECTS_MAX_CHARS
from memory.models import PreferencesDocument, ProjectsDocument, VersionedDocument
from memory.results import DocumentResult, Refusal
from memory.services.gate import gate, refusal_record
from memory.services.locks import home_locked

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from crewsite.rows import RowGuard
    from crewsite.security.origin import Origin

Document = TypeVar("Document", PreferencesDocument, ProjectsDocument)

LAYERS: Final[dict[type[VersionedDocument], str]] = {
    PreferencesDocument: "preferences",
    ProjectsDocument: "projects",
}
CAPS: Final[dict[type[VersionedDocument], int]] = {
    PreferencesDocument: PREFERENCES_MAX_CHARS,
    ProjectsDocument: PROJECTS_MAX_CHARS,
}


def document_replace(
    *,
    model: type[Document],
    workspace: Workspace,
    text: str,
    origin: Origin,
    author: User | None = None,
    now: dt.datetime | None = None,
    override_screen: bool = False,
    guard: RowGuard | None = None,
) -> DocumentResult:
    """Put a new version in force. Empty or over-cap text is refused
    unless a person wrote it (the prompt cuts it then).
    """
    layer, text = LAYERS[model], clean(text).strip()
    refusal = _size_refusal(text, cap=CAPS[model], origin=origin)
    if refusal is not None:
        refusal_record(refusal, text, home=workspace, memory_type=layer, origin=origin)
    else:
        refusal = gate(
            text,
            home=workspace,
            memory_type=layer,
            origin=origin,
            payload={"text": text},
            override_screen=override_screen,
        )
    if refusal is not None:
        current = model._default_manager.filter(workspace=workspace, replaced_at__isnull=True).first()
        return DocumentResult("refused", current, refusal.code, refusal.message)
    with home_locked(workspace):
        if guard is not None:
            guard(model._default_manager.filter(workspace=workspace, replaced_at__isnull=True).first())
        return _put(model, workspace, text, origin, author, now)


def document_restore(*, row: VersionedDocument, origin: Origin, author: User | None = None) -> DocumentResult:
    """Bring an old version back as a new one, so that nothing in between is lost. Screened again."""
    model = type(row)
    if model not in LAYERS:
        raise TypeError(f"{model.__name__} is no document of memory.")
    return document_replace(
        model=model,  # type: ignore[type-var]
        workspace=row.workspace,
        text=row.text,
        origin=origin,
        author=author,
    )


def _size_refusal(text: str, *, cap: int, origin: Origin) -> Refusal | None:
    if origin.is_explicit:
        return None
    if not text:
        return Refusal("document_empty", "An empty document replaces nothing.")
    if len(text) > cap:
        return Refusal(
            "document_size", f"The document has {len(text)} characters; at most {cap} are put in a prompt."
        )
    return None


def _put(  # noqa: PLR0917 - the six values of one version
    model: type[Document],
    workspace: Workspace,
    text: str,
    origin: Origin,
    author: User | None,
    now: dt.datetime | None,
) -> DocumentResult:
    rows = model._default_manager.filter(workspace=workspace)
    current = rows.filter(replaced_at__isnull=True).first()
    if current is not None and current.text == text:
        return DocumentResult("unchanged", current)
    last = current or rows.order_by("-version").first()
    # Under the lock, and after what a clock that was ahead has written: versions follow each other.
    now = max(now or timezone.now(), last.created_at + SHORTEST_LIFE) if last else now or timezone.now()
    if current is not None:
        current.replaced_at = now
        current.save(update_fields=["replaced_at", "updated_at"])
    row = model._default_manager.create(
        workspace=workspace,
        version=last.version + 1 if last else 1,
        text=text,
        source=origin.source,
        author=author,
        conversation_id=origin.conversation_id,
        created_at=now,
    )
    event_record(
        home_id=workspace.pk,
        event=MemoryEvent.Event.UPDATE if current else MemoryEvent.Event.CREATE,
        memory_type=LAYERS[model],
        object_id=row.pk,
        old=current.text if current else None,
        new=text,
        reason=f"version {row.version}",
        origin=origin,
    )
    return DocumentResult("replaced", row)
