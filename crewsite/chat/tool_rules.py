"""What holds for a tool through every door: what operators and a conversation's mode allow, and how long a
result may be. Loads no model library."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from crewsite.chat.constants import READING_TOOLS, TOOL_RESULT_MAX_CHARS, TOOL_SUMMARY_CHARS
from crewsite.live import live_value
from crewsite.security.redaction import redact

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

CUT_NOTICE: Final = "\n[cut: the result was longer than a conversation may hold]"


class Rule(StrEnum):
    APPROVED = "approved"
    DENIED = "denied"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Rules:
    """What is denied stays so, whatever approves it; what neither names asks the person."""

    denied: str
    approved: str

    @classmethod
    def live(cls) -> Rules:
        """Reads the database, once a second at most."""
        return cls(live_value("CHAT_TOOLS_DENIED"), live_value("CHAT_TOOLS_APPROVED"))

    def of(self, name: str) -> Rule:
        if _listed(name, self.denied):
            return Rule.DENIED
        return Rule.APPROVED if _listed(name, self.approved) else Rule.ASK


def _listed(name: str, patterns: str) -> bool:
    return any(fnmatchcase(name, pattern.strip()) for pattern in patterns.split(",") if pattern.strip())


def refused(name: str, conversation: Conversation | None) -> str:
    """Why this conversation's mode forbids the tool; empty when it does not."""
    if conversation is None:
        return ""
    if not conversation.reads_memory:
        return "This conversation is temporary: memory is neither read nor written in it."
    if name not in READING_TOOLS and not conversation.writes_memory:
        return "This conversation is incognito: nothing is written to memory from it."
    return ""


def summary(text: str) -> str:
    """What a tool card shows: one redacted line."""
    line = " ".join(redact(text[: TOOL_SUMMARY_CHARS * 4]).text.split())
    return line if len(line) <= TOOL_SUMMARY_CHARS else line[: TOOL_SUMMARY_CHARS - 1] + "…"


def shortened(text: str) -> str:
    if len(text) <= TOOL_RESULT_MAX_CHARS:
        return text
    return text[: TOOL_RESULT_MAX_CHARS - len(CUT_NOTICE)] + CUT_NOTICE
