"""What every text meets before it becomes memory:
injection screening, then the refusal of credentials. Both are audited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewsite.security.events import event_record
from crewsite.security.models import MemoryEvent
from crewsite.security.redaction import credential_families, snippet, tells_secret
from crewsite.security.screening import screen
from memory.models import ReviewItem
from memory.results import Refusal
from memory.services.review import review_add

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from crewsite.security.origin import Origin


def screen_refusal(text: str, *, where: str) -> Refusal | None:
    """`injection_blocked` naming family and span, or None. Writes nothing."""
    verdict = screen(text, where=where)
    if verdict.clean:
        return None
    families = ", ".join(verdict.families)
    start, end = verdict.spans[0] if verdict.spans else (0, len(text))
    return Refusal(
        "injection_blocked",
        f"The text reads like instructions to the assistant ({families}, characters {start} to {end}).",
    )


def credential_refusal(text: str) -> Refusal | None:
    families = credential_families(text)
    if not families and tells_secret(text):
        return Refusal(
            "credential", "That reads like a password. Store where it lives, not the secret itself."
        )
    if not families:
        return None
    return Refusal(
        "credential",
        f"The text holds a credential ({', '.join(families)}). Store where it lives, not the key itself.",
    )


def gate(
    text: str,
    *,
    home: Workspace,
    memory_type: str,
    origin: Origin,
    payload: dict[str, Any] | None = None,
    override_screen: bool = False,
) -> Refusal | None:
    """Refusal by screening or by a credential, with its event. A refused explicit write waits in the review
    queue.

    `payload` is what accepting it there would write. A credential is never put there: it would be kept by it.
    `override_screen` stores what screening refuses (an owner decided so), never a credential.
    """
    refusal = credential_refusal(text)
    if refusal is not None:
        refusal_record(refusal, text, home=home, memory_type=memory_type, origin=origin)
        return refusal
    refusal = None if override_screen else screen_refusal(text, where=memory_type)
    if refusal is None:
        return None
    refusal_record(refusal, text, home=home, memory_type=memory_type, origin=origin)
    if origin.is_explicit and payload is not None:
        review_add(
            home=home,
            kind=ReviewItem.Kind.REFUSED_EXPLICIT,
            summary=f"{refusal.message} {snippet(text)}",
            payload={"layer": memory_type, "origin": origin_as_json(origin), **payload},
        )
    return refusal


def refusal_record(
    refusal: Refusal,
    text: str,
    *,
    home: Workspace,
    memory_type: str,
    origin: Origin,
    object_id: int | None = None,
) -> None:
    """The event of a refusal; the text only as a redacted snippet."""
    blocked = refusal.code == "injection_blocked"
    event_record(
        home_id=home.pk,
        event=MemoryEvent.Event.INJECTION_BLOCKED if blocked else MemoryEvent.Event.REFUSED,
        memory_type=memory_type,
        object_id=object_id,
        new=snippet(text),
        reason=f"{refusal.code}: {refusal.message}"[:200],
        origin=origin,
    )


def origin_as_json(origin: Origin) -> dict[str, str]:
    return {
        "source": str(origin.source),
        "surface": str(origin.surface),
        "actor": origin.actor,
        "conversation": str(origin.conversation_id or ""),
    }
