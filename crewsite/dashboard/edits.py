"""Changing a row of a tab: the fields of its form, and the service each button calls. What undoes a change is
part of its answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crewsite.dashboard.tables import value_text
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_edit, lesson_undo, lesson_write
from memory.constants import KEY_MAX_CHARS, KEY_PREFIXES, VALUE_MAX_BYTES
from memory.layers import layer_of
from memory.live import extra_key_prefixes
from memory.models import PreferencesDocument, ProjectsDocument, SemanticMemory
from memory.rules import parse_value
from memory.services import (
    document_replace,
    episodic_delete,
    episodic_edit,
    episodic_write,
    semantic_delete,
    semantic_write,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crewsite.dashboard.place import Place
    from crewsite.dashboard.tables import Table


JSON_QUOTES: Final = 2  # a text is kept in them, and they count


@dataclass(frozen=True, slots=True)
class Field:
    """One control of a form. `kind` is text, area, number, check or select; `key` cannot be changed later."""

    name: str
    label: str
    value: str = ""
    kind: str = "text"
    hint: str = ""
    max_chars: int = 1000
    rows: int = 3
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Undo:
    """Which button of which row takes the change back, and what it sends along."""

    action: str
    pk: int
    sends: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`row` is what stands now. Not `ok`: nothing was changed, `message` says why."""

    ok: bool
    message: str
    row: Any = None
    undo: Undo | None = None


def fact_fields(row: Any, given: Mapping[str, str]) -> list[Field]:
    hint = f"Begins with {', '.join((*KEY_PREFIXES, *extra_key_prefixes()))}, such as pref.editor"
    fields = [] if row else [Field("key", "Key", given.get("key", ""), hint=hint, max_chars=KEY_MAX_CHARS)]
    value = value_text(row.value) if row else ""
    return [
        *fields,
        Field("value", "Value", given.get("value", value), "area", max_chars=VALUE_MAX_BYTES - JSON_QUOTES),
    ]


def fact_save(place: Place, row: Any, given: Mapping[str, str]) -> Outcome:
    result = semantic_write(
        home=place.home,
        key=row.key if row else given.get("key", "").strip(),
        value=parse_value(given.get("value", "")),
        origin=place.origin,
        author=place.user,
    )
    if result.outcome == "refused":
        return Outcome(ok=False, message=result.message)
    if result.outcome == "unchanged":
        return Outcome(ok=True, message="It says this already.", row=result.row)
    before = (
        SemanticMemory.all_objects.filter(superseded_by=result.row).order_by("-deleted_at", "-pk").first()
    )
    undo = Undo("restore", before.pk) if before else Undo("delete", _pk(result.row))
    return Outcome(ok=True, message="Saved.", row=result.row, undo=undo)


def episode_fields(row: Any, given: Mapping[str, str]) -> list[Field]:
    text, importance, tags = (row.text, row.importance, row.tags) if row else ("", 0.5, [])
    return [
        Field("text", "Text", given.get("text", text), "area", max_chars=2000),
        Field("importance", "Importance", given.get("importance", f"{importance:g}"), "number", "0 to 1"),
        Field("tags", "Tags", given.get("tags", ", ".join(tags)), hint="At most 10, with commas between"),
    ]


def episode_save(place: Place, row: Any, given: Mapping[str, str]) -> Outcome:
    importance = _number(given.get("importance", ""), default=row.importance if row else 0.5)
    if row is None:
        made = episodic_write(
            home=place.home,
            text=given.get("text", ""),
            importance=importance,
            tags=given.get("tags", ""),
            origin=place.origin,
            author=place.user,
        )
        if made.outcome != "stored":
            return Outcome(ok=False, message=made.message)
        return Outcome(ok=True, message="Saved.", row=made.row, undo=Undo("delete", _pk(made.row)))
    before = {"text": row.text, "importance": f"{row.importance:g}", "tags": ", ".join(row.tags)}
    edit = episodic_edit(
        row=row,
        text=given.get("text", ""),
        importance=importance,
        tags=given.get("tags", ""),
        origin=place.origin,
    )
    return _edited(edit, Undo("edit", row.pk, before))


def lesson_fields(row: Any, given: Mapping[str, str]) -> list[Field]:
    # An unticked box sends nothing, so what was sent is told from a fresh form by the rule beside it.
    pinned = "pinned" in given if "rule" in given else bool(row and row.pinned)
    return [
        Field("rule", "Rule", given.get("rule", row.rule if row else ""), "area"),
        Field("negative", "What not to do", given.get("negative", row.negative if row else "")),
        Field(
            "category",
            "Category",
            given.get("category", row.category if row else Lesson.Category.KNOWLEDGE),
            "select",
            options=tuple(Lesson.Category.choices),
        ),
        Field(
            "scope",
            "Only in the project",
            given.get("scope", row.scope if row else ""),
            hint="A part of its path; empty: everywhere",
            max_chars=500,
        ),
        Field("pinned", "Pinned", "on" if pinned else "", "check"),
    ]


def lesson_save(place: Place, row: Any, given: Mapping[str, str]) -> Outcome:
    wording = {
        "rule": given.get("rule", ""),
        "negative": given.get("negative", ""),
        "category": given.get("category") or Lesson.Category.KNOWLEDGE,
        "scope": given.get("scope", ""),
        "pinned": given.get("pinned") == "on",
    }
    if row is None:
        made = lesson_write(home=place.home, origin=place.origin, author=place.user, **wording)  # type: ignore[arg-type]
        if made.outcome == "refused":
            return Outcome(ok=False, message=made.message)
        if made.outcome == "unchanged":
            return Outcome(ok=True, message="This was known already.", row=made.row)
        said = "Taught." if not made.superseded else f"Taught. It takes the place of {len(made.superseded)}."
        return Outcome(ok=True, message=said, row=made.row, undo=Undo("undo", _pk(made.row)))
    before = {"rule": row.rule, "negative": row.negative, "category": row.category, "scope": row.scope}
    before |= {"pinned": "on"} if row.pinned else {}
    edit = lesson_edit(row=row, origin=place.origin, author=place.user, **wording)  # type: ignore[arg-type]
    return _edited(edit, Undo("edit", row.pk, before))


def document_fields(row: Any, given: Mapping[str, str]) -> list[Field]:
    text = given.get("text", row.text if row else "")
    return [Field("text", "Text, in Markdown", text, "area", max_chars=100_000, rows=14)]


def document_save(place: Place, row: Any, given: Mapping[str, str], *, model: Any) -> Outcome:
    current = model._default_manager.filter(workspace=place.workspace, replaced_at__isnull=True).first()
    result = document_replace(
        model=model,
        workspace=place.workspace,
        text=given.get("text", ""),
        origin=place.origin,
        author=place.user,
    )
    if result.outcome == "refused":
        return Outcome(ok=False, message=result.message)
    if result.outcome == "unchanged":
        return Outcome(ok=True, message="It says this already.", row=result.row)
    undo = Undo("restore", current.pk) if current else None
    said = f"Saved as version {result.row.version}." if result.row else "Saved."
    return Outcome(ok=True, message=said, row=result.row, undo=undo)


def preferences_save(place: Place, row: Any, given: Mapping[str, str]) -> Outcome:
    return document_save(place, row, given, model=PreferencesDocument)


def projects_save(place: Place, row: Any, given: Mapping[str, str]) -> Outcome:
    return document_save(place, row, given, model=ProjectsDocument)


FORMS: Final[dict[str, Callable[[Any, Mapping[str, str]], list[Field]]]] = {
    "facts": fact_fields,
    "episodes": episode_fields,
    "lessons": lesson_fields,
    "preferences": document_fields,
    "projects": document_fields,
}
SAVES: Final[dict[str, Callable[[Place, Any, Mapping[str, str]], Outcome]]] = {
    "facts": fact_save,
    "episodes": episode_save,
    "lessons": lesson_save,
    "preferences": preferences_save,
    "projects": projects_save,
}
DELETES: Final[dict[str, Callable[..., Any]]] = {
    "facts": semantic_delete,
    "episodes": episodic_delete,
    "lessons": lesson_delete,
}


def row_delete(place: Place, table: Table, row: Any) -> Outcome:
    gone = DELETES[table.tab](row=row, origin=place.origin)
    return Outcome(ok=True, message="Deleted.", row=gone, undo=Undo("restore", gone.pk))


def row_restore(place: Place, table: Table, row: Any) -> Outcome:
    """Also takes back an edit of a fact or a document: what stood before is restored over it."""
    layer = layer_of(table.layer)
    if layer is None:
        return Outcome(ok=False, message="Rows of this layer cannot be restored here.")
    result = layer.restore(row=row, origin=place.origin, author=place.user)
    if result.outcome == "refused":
        return Outcome(ok=False, message=result.message)
    return Outcome(ok=True, message=result.message or "Restored.", row=result.row or row)


def lesson_take_back(place: Place, row: Any) -> Outcome:
    """As if it had not been taught: what it took the place of stands again."""
    undone = lesson_undo(row=row, origin=place.origin)
    if not undone.undone:
        return Outcome(ok=False, message="The lesson is gone already.")
    again = len(undone.restored)
    return Outcome(ok=True, message=f"Taken back. {again} earlier stand again." if again else "Taken back.")


def _edited(edit: Any, undo: Undo) -> Outcome:
    if edit.outcome == "refused":
        return Outcome(ok=False, message=edit.message)
    if edit.outcome == "unchanged":
        return Outcome(ok=True, message="Nothing was changed.", row=edit.row)
    return Outcome(ok=True, message="Saved.", row=edit.row, undo=undo)


def _number(text: str, *, default: float) -> float:
    """What is no number is left to the service, which says what is wrong with it."""
    try:
        return float(text) if text.strip() else default
    except ValueError:
        return float("nan")


def _pk(row: Any) -> int:
    return int(row.pk)
