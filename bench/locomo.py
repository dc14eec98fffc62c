"""Finding the turns that answer a question, on the LoCoMo conversations, through the product's own services.

Every turn is written as an episode with its real date; every question of categories 1 to 4 with valid
evidence is a query in its conversation. `python -m bench locomo --data FILE` (the file is not shipped).
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.report import Bar, Report
from bench.site import prepare

CATEGORIES: Final = (1, 2, 3, 4)
EVIDENCE: Final = re.compile(r"D(\d+):0*(\d+)")
SESSION_DATE: Final = "%I:%M %p on %d %B, %Y"
# Deep enough that the best turn of five sessions is always among them.
DEPTH: Final = 100
TOP_SESSIONS: Final = 5
METRICS: Final = ("turn_r5", "turn_r10", "session_all5")
# Explicit search as a person asks it, each leg alone, and what a prompt gets: admitted, aged, diverse.
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "explicit": {"mode": "relevance", "mmr": False},
    "keyword": {"mode": "keyword", "mmr": False},
    "vector": {"mode": "vector", "mmr": False},
    "injected_next_day": {"mode": "auto", "relevance_filter": True, "days_later": 1},
    "injected_next_year": {"mode": "auto", "relevance_filter": True, "days_later": 365},
}
BARS: Final[dict[str, Bar]] = {
    "explicit_turn_r5": (">=", 0.70),
    "explicit_turn_r10": (">=", 0.78),
    "explicit_session_all5": (">=", 0.83),
    **{f"next_year_share_of_explicit_{name}": (">=", 0.9) for name in METRICS},
}


@dataclass(frozen=True, slots=True)
class Turn:
    name: str
    session: int
    text: str
    said_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def run(options: argparse.Namespace) -> Report:
    if options.data is None:
        raise SystemExit("bench locomo needs --data FILE with the LoCoMo conversations.")
    prepare()
    sums: dict[str, list[float]] = defaultdict(list)
    for dialogue in read(options.data):
        ids = store(dialogue)
        for question in dialogue.questions:
            measure(dialogue, question, ids, sums)
    figures = {key: sum(values) / len(values) for key, values in sorted(sums.items())}
    figures["questions"] = float(len(sums["explicit_turn_r5"]))
    for name in METRICS:
        figures[f"next_year_share_of_explicit_{name}"] = (
            figures[f"injected_next_year_{name}"] / figures[f"explicit_{name}"]
        )
    return Report("locomo", figures, BARS)


def read(path: Path) -> list[Dialogue]:
    return [dialogue_of(entry) for entry in json.loads(path.read_text())]


def dialogue_of(entry: dict[str, Any]) -> Dialogue:
    talk = entry["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in talk if re.fullmatch(r"session_\d+", key))
    turns = []
    for number in numbers:
        date = talk[f"session_{number}_date_time"]
        start = dt.datetime.strptime(date, SESSION_DATE).replace(tzinfo=dt.UTC)
        for place, turn in enumerate(talk[f"session_{number}"]):
            said_at = start + dt.timedelta(seconds=place)
            turns.append(Turn(turn["dia_id"], number, text_of(turn), said_at))
    names = {turn.name for turn in turns}
    questions = []
    for asked in entry["qa"]:
        evidence = {f"D{s}:{n}" for text in asked.get("evidence", ()) for s, n in EVIDENCE.findall(text)}
        if asked["category"] in CATEGORIES and evidence & names:
            questions.append(Question(asked["question"], asked["category"], frozenset(evidence & names)))
    return Dialogue(str(entry["sample_id"]), tuple(turns), tuple(questions))


def text_of(turn: dict[str, Any]) -> str:
    """Who said what; a shared picture by its caption, as a chat log would keep it."""
    shared = f" [shared: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{shared}"


def store(dialogue: Dialogue) -> dict[str, int]:
    """Writes every turn into a home of its own; turn name -> id of the row that says it."""
    from crewsite.accounts.models import User, Workspace
    from crewsite.conversations.models import Conversation
    from crewsite.search.tasks import embeddings_backfill
    from crewsite.security.origin import Origin, Source
    from memory.services import EpisodicDraft, episodic_write_many

    slug = re.sub(r"[^a-z0-9]+", "-", dialogue.name.lower())
    home = Workspace.objects.create(name=dialogue.name, slug=slug, is_isolated=True)
    owner, _ = User.objects.get_or_create(username="bench")
    ids: dict[str, int] = {}
    for session in sorted({turn.session for turn in dialogue.turns}):
        turns = [turn for turn in dialogue.turns if turn.session == session]
        conversation = Conversation.objects.create(owner=owner, workspace=home)
        results = episodic_write_many(
            home=home,
            drafts=[EpisodicDraft(text=turn.text, created_at=turn.said_at) for turn in turns],
            origin=Origin(source=Source.IMPORT, conversation_id=conversation.pk),
        )
        ids |= {turn.name: result.row.pk for turn, result in zip(turns, results, strict=True) if result.row}
    embeddings_backfill()
    return ids


def measure(
    dialogue: Dialogue, question: Question, ids: dict[str, int], sums: dict[str, list[float]]
) -> None:
    from crewsite.accounts.models import Workspace
    from memory.selectors import episodic_search

    home = Workspace.objects.get(name=dialogue.name)
    last = max(turn.said_at for turn in dialogue.turns)
    session_of = {ids[turn.name]: turn.session for turn in dialogue.turns if turn.name in ids}
    wanted = {ids[name] for name in question.evidence if name in ids}
    sessions_wanted = {turn.session for turn in dialogue.turns if turn.name in question.evidence}
    for name, how in VARIANTS.items():
        parameters = {key: value for key, value in how.items() if key != "days_later"}
        now = last + dt.timedelta(days=how.get("days_later", 1))
        found = episodic_search(home=home, query=question.text, limit=DEPTH, now=now, **parameters)
        rows = [hit.row.pk for hit in found.hits]
        sessions = list(dict.fromkeys(session_of[pk] for pk in rows))[:TOP_SESSIONS]
        scores = {
            "turn_r5": len(wanted & set(rows[:5])) / len(question.evidence),
            "turn_r10": len(wanted & set(rows[:10])) / len(question.evidence),
            "session_all5": float(sessions_wanted <= set(sessions)),
        }
        for key, value in scores.items():
            sums[f"{name}_{key}"].append(value)
            if name == "explicit":
                sums[f"explicit_category{question.category}_{key}"].append(value)
