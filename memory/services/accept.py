"""What deciding an item of the review queue does to layers 1, 2, 4 and 5. An item that time has overtaken
stays open, and its message says what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crewsite.security.text import fold
from memory.models import EpisodicMemory, PreferencesDocument, ProjectsDocument, ReviewItem, SemanticMemory
from memory.results import ReviewOutcome
from memory.rules import parse_value, render_value, same_value
from memory.services.documents import document_replace
from memory.services.episodic import episodic_delete, episodic_edit, episodic_write
from memory.services.restore import memory_restore
from memory.services.review import CHANGED, MERGED
from memory.services.semantic import SUPERSEDED, semantic_write

if TYPE_CHECKING:
    from crewsite.accounts.models import User
    from crewsite.security.origin import Origin


def supersession_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """The newer episode stands, in the words of the merge if there are any; the older one is tombstoned."""
    newer, older = (
        EpisodicMemory.objects.filter(pk=item.payload[side], home=item.home).first()
        for side in ("new", "old")
    )
    merged = str(item.payload.get(MERGED, ""))
    if newer is None and not merged:
        newer = _replaced_by(item)
    if newer is None:
        if older is None:
            return ReviewOutcome(ok=True, message="Both episodes are gone already; nothing was changed.")
        return ReviewOutcome(
            ok=False, message="The newer episode was deleted, so the older one stays. Reject this item."
        )
    if older is None and not merged:
        return ReviewOutcome(ok=True, message="The older episode is gone already.")
    stays, goes = (newer, older)
    if merged:
        if older is not None and fold(merged) == fold(older.text):
            stays, goes = older, newer
        edit = episodic_edit(
            row=stays, text=merged, importance=stays.importance, tags=stays.tags, origin=origin
        )
        if edit.outcome == "refused":
            return ReviewOutcome(ok=False, message=edit.message)
    if goes is None:
        return ReviewOutcome(ok=True)
    episodic_delete(row=goes, origin=origin, reason=SUPERSEDED)
    return ReviewOutcome(ok=True, row_id=goes.pk)


def _replaced_by(item: ReviewItem) -> EpisodicMemory | None:
    """The live episode that took the place of the newer one meanwhile, or of what took its place."""
    rows = EpisodicMemory.all_objects.filter(home=item.home)
    row, seen = rows.filter(pk=item.payload["new"]).first(), set[int]()
    while row is not None and row.is_deleted and row.pk not in seen:
        seen.add(row.pk)
        was_replaced = row.deleted_reason == SUPERSEDED
        later = rows.filter(possibly_supersedes=row).order_by("is_deleted", "-pk")
        row = later.first() if was_replaced else None
    return row if row is not None and not row.is_deleted else None


def supersession_reject(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Both stand, and neither is said to replace the other any more."""
    EpisodicMemory.all_objects.filter(
        pk=item.payload.get("new"), home=item.home, possibly_supersedes=item.payload.get("old")
    ).update(possibly_supersedes=None)
    return ReviewOutcome(ok=True)


def supersession_reopen(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """The doubt is back, and the episode that went, if one did. Accepted in other words, the text that went
    is not known any more."""
    newer, older, went = (
        EpisodicMemory.all_objects.filter(pk=item.payload.get(side), home=item.home).first()
        for side in ("new", "old", CHANGED)
    )
    if went is not None:
        stays = older if went == newer else newer
        if stays is None or stays.is_deleted or went.deleted_reason != SUPERSEDED:
            return ReviewOutcome(ok=False, message="The episodes have changed since; nothing was undone.")
        restored = memory_restore(row=went, origin=origin)
        if restored.outcome == "refused":
            return ReviewOutcome(ok=False, message=restored.message)
    if newer is not None:
        EpisodicMemory.all_objects.filter(pk=newer.pk).update(possibly_supersedes=older)
    return ReviewOutcome(ok=True)


def nothing_done(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    return ReviewOutcome(ok=True)


def semantic_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    """Store the refused fact although screening refused it: an owner has read it and decided so."""
    payload, is_merged = item.payload, MERGED in item.payload
    key, value = payload["key"], parse_value(payload[MERGED]) if is_merged else payload["value"]
    since = SemanticMemory.objects.filter(home=item.home, key=key, valid_from__gt=item.created_at).first()
    if since is not None and not is_merged and not same_value(since.value, value):
        said = render_value(since.value)
        return _overtaken(
            f"{key} was set to “{said}” on {since.valid_from:%Y-%m-%d}, after this was refused."
        )
    result = semantic_write(
        home=item.home,
        key=key,
        value=value,
        confidence=payload["confidence"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)


def episodic_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    payload = item.payload
    result = episodic_write(
        home=item.home,
        text=payload.get(MERGED) or payload["text"],
        importance=payload["importance"],
        tags=payload["tags"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)


def document_accept(*, item: ReviewItem, origin: Origin, author: User | None = None) -> ReviewOutcome:
    model = PreferencesDocument if item.payload["layer"] == "preferences" else ProjectsDocument
    is_merged = MERGED in item.payload
    since = model._default_manager.filter(workspace=item.home, created_at__gt=item.created_at).first()
    if since is not None and not is_merged:
        return _overtaken(
            f"Version {since.version} was written after this was refused and would be replaced."
        )
    result = document_replace(
        model=model,  # type: ignore[type-var]
        workspace=item.home,
        text=item.payload[MERGED] if is_merged else item.payload["text"],
        origin=origin,
        author=author,
        override_screen=True,
    )
    return ReviewOutcome(result.outcome != "refused", result.message)


def _overtaken(what: str) -> ReviewOutcome:
    return ReviewOutcome(
        ok=False, message=f"{what} Reject this item, or merge it with the text that shall stand."
    )
