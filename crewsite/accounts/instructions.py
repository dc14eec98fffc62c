"""Standing instructions of a workspace: how the assistant works there, and who it is. Owners and operators
write them; what reads them into a prompt is the context builder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db import transaction

from crewsite.accounts.models import Workspace
from crewsite.security.events import event_record
from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.security.origin import Origin

INSTRUCTIONS: Final = ("steering", "agent_prompt")
INSTRUCTIONS_MAX_CHARS: Final = 100_000  # what a form takes; a prompt shows as much as its cap allows


def instructions_write(
    *, workspace: Workspace, steering: str, agent_prompt: str, origin: Origin
) -> list[str]:
    """The names of those that changed, each with an audit event that keeps the old text."""
    texts = {"steering": clean(steering).strip(), "agent_prompt": clean(agent_prompt).strip()}
    with transaction.atomic():
        row = Workspace.objects.select_for_update().get(pk=workspace.pk)
        changed = [name for name, text in texts.items() if getattr(row, name) != text]
        for name in changed:
            instruction_record(row, name, old=getattr(row, name), new=texts[name], origin=origin)
            setattr(row, name, texts[name])
        row.save(update_fields=[*changed, "updated_at"])
    return changed


def instruction_record(workspace: Workspace, name: str, *, old: str, new: str, origin: Origin) -> None:
    event_record(
        home_id=workspace.pk,
        event="update",
        memory_type=name,
        object_id=workspace.pk,
        old=old,
        new=new,
        origin=origin,
    )
