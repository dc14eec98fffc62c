"""What the scripted model answers to a consolidation pass: copied from the transcript by plain rules, so that
counts can be checked against the conversation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

LINE = re.compile(r"^\[(\d+)\] \S+ \S+ (user|assistant): (.*)$", re.MULTILINE)
NAMED = re.compile(r"\bmy (\w+) is (\w+)", re.IGNORECASE)
CORRECTION = re.compile(r"no, (.+)", re.IGNORECASE)
LONG_ENOUGH_WORDS = 6
EPISODES = 10
FACTS = 20


@dataclass(frozen=True)
class Line:
    seq: int
    role: str
    text: str


def transcript_of(body: dict[str, Any]) -> list[Line]:
    """The messages a request shows to the model."""
    data = "\n".join(str(m.get("content") or "") for m in body["messages"] if m["role"] == "user")
    return [Line(int(seq), role, text) for seq, role, text in LINE.findall(data)]


def document_of(body: dict[str, Any], name: str) -> str:
    """A current document as the request shows it, without its fence."""
    data = "\n".join(str(m.get("content") or "") for m in body["messages"] if m["role"] == "user")
    found = re.search(rf"current {name}.*?instructions\.\n(.*?)\n<<<END", data, re.DOTALL)
    text = found[1].strip() if found else ""
    return "" if text == "(empty)" else text


def consolidated(body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The tool call of the pass that the request asks for."""
    names = {tool["function"]["name"] for tool in body["tools"]}
    lines = transcript_of(body)
    if "preferences_pass" in names:
        return "preferences_pass", preferences_answer(body, lines)
    return "history_pass", history_answer(lines)


def preferences_answer(body: dict[str, Any], lines: list[Line]) -> dict[str, Any]:
    facts = [
        {"key": f"user.{name.lower()}", "value": value, "confidence": 0.9}
        for line in lines
        if line.role == "user"
        for name, value in NAMED.findall(line.text)
    ]
    kept = document_of(body, "preferences").splitlines()
    added = [f"- {fact['key']}: {fact['value']}" for fact in facts]
    return {
        "preferences": "\n".join(dict.fromkeys([*kept, *added]))[-4_000:],
        "projects": document_of(body, "projects"),
        "contradicted": [],
        "facts": facts[:FACTS],
    }


def history_answer(lines: list[Line]) -> dict[str, Any]:
    said = [line for line in lines if line.role == "user" and len(line.text.split()) >= LONG_ENOUGH_WORDS]
    rules = [found[1] for line in lines if line.role == "user" and (found := CORRECTION.fullmatch(line.text))]
    title = " ".join(said[0].text.split()[:6]) if said else ""
    return {
        "entries": [{"title": title, "text": f"{len(said)} things were said."}] if said else [],
        "episodes": [
            {"text": line.text[:1_000], "importance": 0.5, "tags": [], "message": line.seq}
            for line in said[:EPISODES]
        ],
        "lessons": [{"rule": rule, "negative": "", "category": "preference"} for rule in rules][:EPISODES],
    }
