"""Slash commands of any chat surface: parse one line, call one service, answer in Markdown. A command is no
message: it is neither kept in the transcript nor sent to a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crewsite.accounts.selectors import may_delete
from crewsite.chat.constants import MEMORY_HITS
from crewsite.chat.keeping import (
    NOT_YOURS,
    Candidate,
    Kept,
    find_cited,
    forget,
    forget_candidates,
    keep,
    keep_rule,
)
from crewsite.chat.memory_provider import recall_markdown
from crewsite.chat.model_choice import DEFAULT, model_checked, model_menu
from crewsite.chat.models import Turn
from crewsite.chat.payloads import context_summary
from crewsite.conversations.models import Conversation
from crewsite.conversations.services import (
    conversation_create,
    conversation_set_mode,
    conversation_set_model,
)
from crewsite.llm.tools import ToolContext
from crewsite.search.recall import search_all
from crewsite.security.origin import Surface
from lessons.models import Lesson
from memory.intents import classify
from memory.selectors import memory_stats
from memory.tools import asker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crewsite.accounts.models import User
    from crewsite.chat.model_choice import ModelChoice

ALL: Final = "--all"
NEGATIVE: Final = "-- NOT:"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command answers. `data` tells a page what changed: `mode`, `open` (an address), or the ids of
    rows."""

    text: str
    ok: bool = True
    data: dict[str, Any] = field(default_factory=dict)


def is_command(text: str) -> bool:
    """Whether a message is one of our commands; a path such as /etc/hosts is not."""
    return _split(text)[0] in COMMANDS


def context_in(conversation: Conversation, user: User) -> ToolContext:
    """Who acts where, for commands and undo, whichever door they come through."""
    return ToolContext(conversation.workspace, user, conversation, Surface(conversation.surface))


def run_command(context: ToolContext, text: str) -> CommandResult:
    name, argument = _split(text)
    command = COMMANDS.get(name)
    if command is None:
        return CommandResult(f"There is no command `{(name or text)[:20]}`. `/help` lists them.", ok=False)
    conversation: Conversation = context.conversation
    if command.writes and not conversation.writes_memory:
        return CommandResult(
            f"This conversation is {conversation.mode}: nothing is written to memory.", ok=False
        )
    if command.reads and not conversation.reads_memory:
        return CommandResult("This conversation is temporary: memory is not read in it.", ok=False)
    if command.needs_argument and not argument:
        return CommandResult(f"Write it like this: `{command.usage}`", ok=False)
    return command.run(context, argument)


def _split(text: str) -> tuple[str, str]:
    name, *rest = text.strip().split(maxsplit=1) or [""]
    return name.lower(), rest[0] if rest else ""


def _remember(context: ToolContext, argument: str) -> CommandResult:
    return _kept(keep(context, classify(argument)))


def _learn(context: ToolContext, argument: str) -> CommandResult:
    rule, _, negative = argument.partition(NEGATIVE)
    return _kept(keep_rule(context, rule=rule.strip(), negative=negative.strip()))


def _kept(kept: Kept) -> CommandResult:
    return CommandResult(kept.text, ok=kept.ok, data=kept.data)


def _forget(context: ToolContext, argument: str) -> CommandResult:
    """A citation deletes that row; any other text lists what it may mean, and asks."""
    cited = find_cited(context, argument)
    if cited is not None:
        if not may_delete(context.user, cited.row):
            return CommandResult(NOT_YOURS, ok=False, data={"code": "forbidden"})
        forget(context, cited)
        return CommandResult(f"Forgotten: “{cited.text}”.", data=_forgotten([cited]))
    everything = argument.endswith(ALL)
    query = argument.removesuffix(ALL).strip()
    matching, others = forget_candidates(context, query) if query else ([], [])
    if not matching and (everything or not others):
        return CommandResult("Nothing in memory matches.", ok=False)
    if everything:
        return _forget_all(context, matching)
    candidates = [*matching, *others]
    one = f"`/forget {candidates[0].citation}` forgets"
    ask = f"Which one? {one} the first" if len(candidates) > 1 else f"Is it this? {one} it"
    # What shares a word alone is listed, and never part of "all".
    ask += f", `/forget {query} {ALL}` the {len(matching)} with these words." if len(matching) > 1 else "."
    choices = [{"citation": candidate.citation, "text": candidate.text} for candidate in candidates]
    return CommandResult("\n".join([*_listed(candidates), "", ask]), data={"candidates": choices})


def _forget_all(context: ToolContext, candidates: list[Candidate]) -> CommandResult:
    """All of them that this person may delete; the rest is named."""
    mine = [candidate for candidate in candidates if may_delete(context.user, candidate.row)]
    others = [candidate for candidate in candidates if candidate not in mine]
    for candidate in mine:
        forget(context, candidate)
    said = [f"Forgotten, {len(mine)} in all:", "", *_listed(mine)] if mine else []
    said += ["", NOT_YOURS, "", *_listed(others)] if others else []
    return CommandResult("\n".join(said).strip(), ok=bool(mine), data=_forgotten(mine))


def _forgotten(candidates: list[Candidate]) -> dict[str, Any]:
    """`rows` is what a page sends back to undo it."""
    rows = [{"kind": candidate.kind, "id": candidate.row.pk} for candidate in candidates]
    return {"forgotten": [candidate.citation for candidate in candidates], "rows": rows}


def _listed(candidates: list[Candidate]) -> list[str]:
    return [f"- {candidate.text} `[{candidate.citation}]`" for candidate in candidates]


def _recall(context: ToolContext, argument: str) -> CommandResult:
    found = search_all(
        query=argument, workspace=context.workspace, limit=MEMORY_HITS, asker=asker_of(context)
    )
    hits = [{"kind": hit.kind, "id": hit.object_id, "citation": hit.citation} for hit in found.hits]
    return CommandResult(recall_markdown(found), data={"hits": hits, "degraded": list(found.degraded)})


def _memory(context: ToolContext, argument: str) -> CommandResult:
    if argument not in {"", "stats"}:
        return CommandResult("Write it like this: `/memory stats`", ok=False)
    stats = memory_stats(context.workspace)
    lines = [f"| {name} | {n.live} | {n.deleted} |" for name, n in stats.layers.items()]
    lessons = Lesson.all_objects.in_home(context.workspace.home)
    lines.append(f"| lessons | {lessons.live().count()} | {lessons.deleted().count()} |")
    return CommandResult("\n".join(["| layer | rows | deleted |", "| --- | --- | --- |", *lines]))


def _context(context: ToolContext, _argument: str) -> CommandResult:
    turns = Turn.objects.filter(conversation=context.conversation, user_message__is_current=True)
    turn = turns.exclude(packet={}).last()
    if turn is None:
        return CommandResult("Nothing has been sent to a model in this conversation yet.", ok=False)
    found = context_summary(turn.packet)
    lines = [f"| {b['name']} | {b['state']} | {b['chars']} | {b['rows']} |" for b in found["blocks"]]
    head = ["| block | state | characters | rows |", "| --- | --- | --- | --- |"]
    tail = ["", f"{found['chars']} characters in all."]
    return CommandResult("\n".join([*head, *lines, *tail]), data={"turn": str(turn.pk)})


def _mode(mode: Conversation.Mode) -> Callable[[ToolContext, str], CommandResult]:
    def run(context: ToolContext, _argument: str) -> CommandResult:
        conversation_set_mode(conversation=context.conversation, mode=mode)
        return CommandResult(f"From the next message on: {mode.label.lower()}.", data={"mode": mode.value})

    return run


def _model(context: ToolContext, argument: str) -> CommandResult:
    if not argument:
        return CommandResult(_models_listed())
    named = model_checked(argument)
    if named.choice is None:
        return CommandResult(named.refusal, ok=False)
    conversation_set_model(conversation=context.conversation, model=named.choice.value)
    data = {"model": named.choice.value, "label": named.choice.label}
    said = f"From the next message on: {named.choice.label}."
    return CommandResult(f"{said} {named.warning}".strip(), data=data)


def _models_listed() -> str:
    menu = model_menu(ask=True)
    names = ", ".join(f"`{choice.value or DEFAULT}` ({choice.label})" for choice in menu.choices)
    lines = [f"Models of this site: {names}."]
    for group in menu.groups:
        lines += ["", f"{group.label}: {', '.join(f'`{choice.value}`' for choice in group.choices)}."]
    return "\n".join([*lines, *(f"\nNot told by {problem}" for problem in menu.problems)])


def _new(context: ToolContext, _argument: str) -> CommandResult:
    old: Conversation = context.conversation
    new = conversation_create(
        owner=context.user,
        workspace=context.workspace,
        surface=old.surface,
        mode=old.mode,
        model=old.model,
        project=old.project,
    )
    link = f"/chat/{new.pk}/"
    return CommandResult(
        f"[A new conversation]({link}) is open.", data={"conversation": str(new.pk), "open": link}
    )


def _help(_context: ToolContext, _argument: str) -> CommandResult:
    return CommandResult("\n".join(f"- `{command.usage}` {command.help}" for command in COMMANDS.values()))


def completions(models: Iterable[ModelChoice]) -> list[dict[str, str]]:
    """What a composer offers after a slash: every command, and every model one of them may name."""
    listed = [{"text": name, "usage": c.usage, "help": c.help} for name, c in COMMANDS.items()]
    for choice in models:
        text = f"/model {choice.value or DEFAULT}"
        listed.append({"text": text, "usage": text, "help": choice.label})
    return listed


@dataclass(frozen=True, slots=True)
class _Command:
    usage: str
    help: str
    run: Callable[[ToolContext, str], CommandResult]
    needs_argument: bool = False
    reads: bool = False
    writes: bool = False


_MODES = Conversation.Mode
COMMANDS: Final[dict[str, _Command]] = {
    "/remember": _Command("/remember TEXT", "keeps it", _remember, needs_argument=True, writes=True),
    "/learn": _Command(
        f"/learn RULE [{NEGATIVE} WHAT NOT TO DO]", "teaches a rule", _learn, needs_argument=True, writes=True
    ),
    "/forget": _Command(
        "/forget QUERY", "lists what matches and asks", _forget, needs_argument=True, reads=True, writes=True
    ),
    "/recall": _Command("/recall QUERY", "searches memory", _recall, needs_argument=True, reads=True),
    "/memory": _Command("/memory stats", "counts what is remembered", _memory, reads=True),
    "/context": _Command("/context", "shows what the last answer was given", _context),
    "/incognito": _Command("/incognito", "reads memory, writes none", _mode(_MODES.INCOGNITO)),
    "/temporary": _Command("/temporary", "neither reads nor writes memory", _mode(_MODES.TEMPORARY)),
    "/persistent": _Command("/persistent", "reads and writes memory again", _mode(_MODES.PERSISTENT)),
    "/model": _Command("/model NAME", "picks the model, or lists them", _model),
    "/new": _Command("/new", "opens a new conversation", _new),
    "/help": _Command("/help", "lists the commands", _help),
}
