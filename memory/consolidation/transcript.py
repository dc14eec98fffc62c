"""A stretch of a conversation as it stood at one moment: which messages a model may see, cut to what it is
shown, and a fingerprint that tells later whether anything in it was changed."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Max, Q

from crewsite.conversations.models import Message
from crewsite.security.text import number_of
from memory.consolidation.constants import INPUT_HEAD_SHARE, INPUT_MAX_CHARS, MESSAGE_MAX_CHARS
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation

SPOKEN: Final = (Message.Role.USER, Message.Role.ASSISTANT)
# The one definition of a message that consolidation counts and shows.
VISIBLE: Final = Q(role__in=SPOKEN, private=False, is_current=True) & (~Q(content="") | ~Q(attachments=[]))
CUT: Final = "…[cut]"
# A line by which the assistant recites a memory row: it ends with the row's citation. Stored again, a store
# would grow by itself.
_RECITED: Final = re.compile(
    r"^[-*] .*`?\[[a-z]{2,5}:[^\]\s]{1,110}\]`?(?:, \d{4}-\d\d-\d\d)?\s*$", re.MULTILINE
)
_BLANK_LINES: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class Line:
    """One message as the model sees it."""

    seq: int
    at: dt.datetime
    role: str
    text: str

    def render(self) -> str:
        body = self.text.replace("\n", "\n    ")
        return f"[{self.seq}] {self.at:%Y-%m-%d %H:%M} {self.role}: {body}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages `first_seq` to `last_seq`, frozen. `newest_seq` is the last message the conversation had at
    all.
    """

    first_seq: int
    last_seq: int
    newest_seq: int
    lines: tuple[Line, ...]
    fingerprint: str

    @property
    def ended_at(self) -> dt.datetime:
        return self.lines[-1].at

    def moment_of(self, seq: int | None) -> dt.datetime:
        """When a message was said; the end of the stretch for a number that names none."""
        return next((line.at for line in self.lines if line.seq == seq), self.ended_at)

    def holds(self, quote: str) -> bool:
        """Whether the person said this, word for word but for blanks and case."""
        wanted = " ".join(quote.split()).casefold()
        said = (
            " ".join(line.text.split()).casefold() for line in self.lines if line.role == Message.Role.USER
        )
        return bool(wanted) and any(wanted in text for text in said)


def marker_field(path: str) -> str:
    """The column that says how far a path has come: the number of the last message it covered."""
    return "prefs_offset" if path == ConsolidationReceipt.Path.PREFERENCES else "consolidated_until"


def transcript_freeze(
    conversation: Conversation, *, after_seq: int, until_seq: int | None = None
) -> Transcript | None:
    """The messages after a marker, read in one statement; None when a model may see none of them."""
    rows = conversation.messages.filter(seq__gt=after_seq).filter(VISIBLE)
    if until_seq is not None:
        rows = rows.filter(seq__lte=until_seq)
    fields = ("seq", "pk", "role", "content", "attachments", "created_at")
    messages = list(rows.order_by("seq").only(*fields))
    if not messages:
        return None
    newest = conversation.messages.aggregate(newest=Max("seq"))["newest"]
    return Transcript(
        first_seq=after_seq + 1,
        last_seq=messages[-1].seq,
        newest_seq=newest,
        lines=tuple(_line(message) for message in messages),
        fingerprint=_fingerprint(messages),
    )


def render(lines: Sequence[Line], *, cap: int = INPUT_MAX_CHARS) -> tuple[str, int]:
    """The lines as one text within `cap` characters, and how many messages did not fit.

    Over the cap the first 60 % and the last 40 % stay, in whole messages, around a line that says so.
    """
    texts = [line.render() for line in lines]
    if sum(map(len, texts)) + len(texts) <= cap:
        return "\n".join(texts), 0
    room = cap - len(_left_out(len(texts))) - 1
    head = _fitting(texts, int(room * INPUT_HEAD_SHARE))
    tail = _fitting(texts[head:][::-1], room - int(room * INPUT_HEAD_SHARE))
    missing = len(texts) - head - tail
    return "\n".join([*texts[:head], _left_out(missing), *texts[len(texts) - tail :]]), missing


def _left_out(count: int) -> str:
    return f"…[{number_of(count, 'message')} left out: the stretch is longer than one reading]"


def _fitting(texts: Sequence[str], room: int) -> int:
    """How many from the front fit, each with its line end."""
    for count, text in enumerate(texts):
        room -= len(text) + 1
        if room < 0:
            return count
    return len(texts)


def _line(message: Message) -> Line:
    text = message.content
    if message.role == Message.Role.ASSISTANT:
        text = _BLANK_LINES.sub("\n\n", _RECITED.sub("", text))
    text = text.strip()
    if len(text) > MESSAGE_MAX_CHARS:
        text = text[: MESSAGE_MAX_CHARS - len(CUT)] + CUT
    names = [f"[file: {_name(item)}]" for item in message.attachments]
    return Line(message.seq, message.created_at, message.role, "\n".join(filter(None, [text, *names])))


def _name(attachment: Any) -> str:
    named = attachment.get("name") if isinstance(attachment, dict) else None
    return str(named or "unnamed")[:200]


def _fingerprint(messages: Sequence[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        names = [_name(item) for item in message.attachments]
        digest.update(repr((message.seq, message.pk, message.role, message.content, names)).encode())
    return digest.hexdigest()
