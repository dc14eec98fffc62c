"""Keeping, undoing and deleting memory on a person's explicit word: what `/remember`, `/learn`, `/forget`,
the undo button and the answer without a model all do. The rules of each layer are the services'."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crewsite.accounts.console import row_number
from crewsite.accounts.selectors import may_delete
from crewsite.chat.constants import FORGET_CANDIDATES
from crewsite.search.recall import search_all
from crewsite.security.origin import Origin, Source
from lessons.models import Lesson
from lessons.services import lesson_delete, lesson_undo, lesson_write
from lessons.tools import result_data
from memory.models import EpisodicMemory, SemanticMemory
from memory.services import episodic_delete, episodic_write, memory_restore, semantic_delete, semantic_write
from memory.words import share_found

if TYPE_CHECKING:
    from crewsite.llm.tools import ToolContext
    from memory.intents import Intent

KEPT: Final[dict[str, Any]] = {"lesson": Lesson, "semantic": SemanticMemory, "episodic": EpisodicMemory}
PREFIXES: Final = {"les": "lesson", "sem": "semantic", "epi": "episodic"}
NOT_YOURS: Final = (
    "Somebody else had that remembered: only they and the owners of the workspace may forget it."
)
TOOL_NAMES: Final = {"lesson": "learn_add", "semantic": "memory_remember", "episodic": "memory_remember"}


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a request: a sentence for the person, and the ids a page needs to offer undo."""

    ok: bool
    text: str
    data: dict[str, Any] = field(default_factory=dict)
    kind: str = "lesson"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that a request to forget may mean."""

    kind: str
    row: Lesson | SemanticMemory | EpisodicMemory
    citation: str
    text: str


def explicit_origin(context: ToolContext) -> Origin:
    return Origin(
        source=Source.USER_EXPLICIT,
        surface=context.surface,
        actor=context.user.get_username(),
        conversation_id=context.conversation.pk if context.conversation else None,
    )


def keep(context: ToolContext, intent: Intent) -> Kept:
    """Store what an explicit request asks for, in the layer that fits."""
    match intent.kind:
        case "rule":
            return keep_rule(context, rule=intent.text, category=intent.category)
        case "fact":
            return _keep_fact(context, intent)
        case _:
            return _keep_episode(context, intent)


def keep_rule(context: ToolContext, *, rule: str, negative: str = "", category: str = "knowledge") -> Kept:
    result = lesson_write(
        home=context.workspace.home,
        rule=rule,
        negative=negative,
        category=category,
        origin=explicit_origin(context),
        author=context.user,
    )
    if result.row is None:
        return Kept(ok=False, text=f"Not saved: {result.message}", data=result_data(result))
    said = f"“{result.row.rendered}”"
    sentence = {
        "unchanged": f"That is already a lesson: {said}.",
        "enriched": f"Lesson saved: {said}. It takes the place of a shorter one.",
        "replaced": f"Lesson saved: {said}. It takes the place of an older one.",
    }.get(result.outcome, f"Lesson saved: {said}.")
    return Kept(ok=True, text=sentence, data=result_data(result))


def _keep_fact(context: ToolContext, intent: Intent) -> Kept:
    result = semantic_write(
        home=context.workspace.home,
        key=intent.key,
        value=intent.value,
        origin=explicit_origin(context),
        author=context.user,
    )
    if result.outcome == "refused" or result.row is None:
        data = refusal_data(result.outcome, result.code)
        return Kept(ok=False, text=f"Not saved: {result.message}", data=data, kind="semantic")
    verb = "already known" if result.outcome == "unchanged" else "saved"
    data = {"kind": "semantic", "id": result.row.pk, "outcome": result.outcome}
    return Kept(ok=True, text=f"Fact {verb}: {intent.key} = {intent.value}.", data=data, kind="semantic")


def _keep_episode(context: ToolContext, intent: Intent) -> Kept:
    result = episodic_write(
        home=context.workspace.home, text=intent.text, origin=explicit_origin(context), author=context.user
    )
    if result.outcome == "refused" or result.row is None:
        data = refusal_data(result.outcome, result.code)
        return Kept(ok=False, text=f"Not saved: {result.message}", data=data, kind="episodic")
    data = {"kind": "episodic", "id": result.row.pk, "outcome": result.outcome}
    sentence = "I already know that." if result.outcome == "deduped" else f"Saved: “{result.row.text}”."
    return Kept(ok=True, text=sentence, data=data, kind="episodic")


def refusal_data(outcome: str, code: str) -> dict[str, Any]:
    return {"outcome": outcome, "code": code}


def undo(context: ToolContext, *, kind: str, object_id: int) -> Kept:
    """Take back one saved row of this conversation's home. `data.code` says why not: not_found, forbidden."""
    candidate = find(context, kind=kind, object_id=object_id)
    if candidate is None:
        return Kept(ok=False, text="That is gone already.", data={"code": "not_found"})
    if not may_delete(context.user, candidate.row):
        return Kept(ok=False, text=NOT_YOURS, data={"code": "forbidden"})
    return Kept(ok=True, text=_taken_back(context, candidate))


def _taken_back(context: ToolContext, candidate: Candidate) -> str:
    if isinstance(candidate.row, Lesson):
        result = lesson_undo(row=candidate.row, origin=explicit_origin(context))
        back = "".join(f" “{lesson.rendered}” applies again." for lesson in result.restored)
        return f"Taken back: “{candidate.text}”.{back}"
    forget(context, candidate)
    if isinstance(candidate.row, SemanticMemory):
        older = SemanticMemory.all_objects.filter(superseded_by=candidate.row).order_by("-deleted_at").first()
        if older is not None:
            memory_restore(row=older, origin=explicit_origin(context))
    return f"Taken back: “{candidate.text}”."


def forget(context: ToolContext, candidate: Candidate) -> None:
    """Tombstone one row."""
    origin = explicit_origin(context)
    row = candidate.row
    if isinstance(row, Lesson):
        lesson_delete(row=row, origin=origin)
    elif isinstance(row, SemanticMemory):
        semantic_delete(row=row, origin=origin, reason="forgotten")
    else:
        episodic_delete(row=row, origin=origin, reason="forgotten")


def find(context: ToolContext, *, kind: str, object_id: int) -> Candidate | None:
    """One live row by kind and id, if it belongs to the home of the conversation's workspace."""
    if kind not in KEPT:
        return None
    row = KEPT[kind].objects.in_home(context.workspace.home).filter(pk=object_id).first()
    return _candidate(row) if row is not None else None


def find_cited(context: ToolContext, citation: str) -> Candidate | None:
    """`epi:412`, `les:3` or `sem:pref.editor`, as the lists of `/recall` and `/forget` print them."""
    prefix, _, name = citation.strip("[] ").partition(":")
    kind = PREFIXES.get(prefix, "")
    if kind == "semantic" and not name.isdigit():
        row = SemanticMemory.objects.in_home(context.workspace.home).filter(key=name).first()
        return _candidate(row) if row is not None else None
    number = row_number(name)
    return find(context, kind=kind, object_id=number) if kind and number is not None else None


def forget_candidates(context: ToolContext, query: str) -> tuple[list[Candidate], list[Candidate]]:
    """Live rows with all words of the text, lessons first, and others with some of them; at most ten."""
    home = context.workspace.home
    rows: list[Lesson | SemanticMemory | EpisodicMemory] = [
        *Lesson.objects.in_home(home).filter(rule__icontains=query)[:FORGET_CANDIDATES],
        *SemanticMemory.objects.in_home(home).filter(key__icontains=query)[:FORGET_CANDIDATES],
        *EpisodicMemory.objects.in_home(home).filter(text__icontains=query)[:FORGET_CANDIDATES],
    ]
    matching = {(candidate.kind, candidate.row.pk): candidate for candidate in map(_candidate, rows)}
    others: dict[tuple[str, int], Candidate] = {}
    for hit in search_all(query=query, workspace=context.workspace, limit=FORGET_CANDIDATES).hits:
        if "keyword" not in hit.legs or (hit.kind, hit.object_id) in matching:
            continue
        candidate = find(context, kind=hit.kind, object_id=hit.object_id)
        if candidate is not None:
            into = matching if share_found(query, candidate.text) >= 1.0 else others
            into[hit.kind, hit.object_id] = candidate
    found = list(matching.values())[:FORGET_CANDIDATES]
    return found, list(others.values())[: FORGET_CANDIDATES - len(found)]


def _candidate(row: Lesson | SemanticMemory | EpisodicMemory) -> Candidate:
    if isinstance(row, Lesson):
        return Candidate("lesson", row, f"les:{row.pk}", row.rendered)
    if isinstance(row, SemanticMemory):
        return Candidate("semantic", row, f"sem:{row.key}", f"{row.key} = {row.value}")
    return Candidate("episodic", row, f"epi:{row.pk}", row.text)
