"""Versions of a conversation: a question that was sent again in other words starts a branch, and one branch
is the visible one. Who may branch, and what answers a branch gets, is chat's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crewsite.conversations.indexing import messages_index
from crewsite.conversations.models import Conversation, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of one question, oldest first, and which of them (from 1) this one is."""

    ids: tuple[int, ...]
    at: int

    @property
    def before(self) -> int | None:
        return self.ids[self.at - 2] if self.at > 1 else None

    @property
    def after(self) -> int | None:
        return self.ids[self.at] if self.at < len(self.ids) else None


def question_before(conversation: Conversation, *, before_seq: int | None = None) -> Message | None:
    """The newest question of the visible branch: what is said next follows it."""
    asked = conversation.messages.filter(role=Message.Role.USER, is_current=True)
    if before_seq is not None:
        asked = asked.filter(seq__lt=before_seq)
    return asked.order_by("-seq").first()


def path_to(question: Message) -> set[int]:
    """Ids of the questions that led to this one, and its own."""
    before = _questions_before(question.conversation)
    path: set[int] = set()
    at: int | None = question.pk
    while at is not None and at not in path:
        path.add(at)
        at = before.get(at)
    return path


def on_path(rows: Iterable[Message], path: set[int]) -> Iterator[Message]:
    """Those of a branch: its questions, what followed them, and what stands before any question."""
    return (row for row in rows if _place(row) in path or (row.parent_id is None and not _asks(row)))


def _asks(row: Message) -> bool:
    return row.role == Message.Role.USER


def _place(row: Message) -> int | None:
    """The question that decides whether a message is on a branch."""
    return row.pk if _asks(row) else row.parent_id


def branch_leave(question: Message) -> list[int]:
    """Hide a visible question and all that follows it, in the caller's transaction; the ids that were hidden.

    The conversation must be locked, and nothing may be written into it meanwhile.
    """
    conversation = question.conversation
    later = conversation.messages.filter(is_current=True, role=Message.Role.USER, seq__gte=question.seq)
    asked = set(later.values_list("pk", flat=True))
    hidden = conversation.messages.filter(is_current=True).filter(Q(pk__in=asked) | Q(parent__in=asked))
    ids = list(hidden.values_list("pk", flat=True))
    _mark(conversation, ids, is_current=False)
    _touch(conversation)
    return ids


def branch_choose(question: Message) -> bool:
    """Make the branch of this question the visible one, down its newest versions. False: it is visible
    already."""
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=question.conversation_id)
        question.refresh_from_db()
        if question.is_current:
            return False
        path = path_to(question) | _newest_after(conversation, question)
        rows = list(conversation.messages.only("pk", "role", "parent_id", "is_current"))
        shown = {row.pk for row in on_path(rows, path)}
        _mark(conversation, [r.pk for r in rows if r.is_current and r.pk not in shown], is_current=False)
        _mark(conversation, [r.pk for r in rows if not r.is_current and r.pk in shown], is_current=True)
        _touch(conversation)
    return True


def versions_of(questions: Sequence[Message]) -> dict[int, Versions]:
    """By the id of each question that has more than one version. One query."""
    if not questions:
        return {}
    parents = {question.parent_id for question in questions}
    same = Q(parent__in=parents - {None}) | (Q(parent=None) if None in parents else Q(pk__in=()))
    rows = Message.objects.filter(
        same, role=Message.Role.USER, conversation__in={question.conversation_id for question in questions}
    )
    groups: dict[int | None, list[int]] = {}
    for pk, parent in rows.order_by("seq").values_list("pk", "parent"):
        groups.setdefault(parent, []).append(pk)
    return {
        question.pk: Versions(tuple(group), group.index(question.pk) + 1)
        for question in questions
        if len(group := groups.get(question.parent_id, [])) > 1 and question.pk in group
    }


def _questions_before(conversation: Conversation) -> dict[int, int | None]:
    asked = conversation.messages.filter(role=Message.Role.USER).order_by()
    return dict(asked.values_list("pk", "parent"))


def _newest_after(conversation: Conversation, question: Message) -> set[int]:
    """What was asked after a question, each time the newest version."""
    asked = conversation.messages.filter(role=Message.Role.USER, parent__isnull=False)
    newest = dict(asked.order_by("seq").values_list("parent", "pk"))
    path: set[int] = set()
    at = newest.get(question.pk)
    while at is not None and at not in path:
        path.add(at)
        at = newest.get(at)
    return path


def _mark(conversation: Conversation, ids: list[int], *, is_current: bool) -> None:
    if not ids:
        return
    conversation.messages.filter(pk__in=ids).update(is_current=is_current)
    messages_index(list(conversation.messages.filter(pk__in=ids).select_related("author")), conversation)


def _touch(conversation: Conversation) -> None:
    conversation.branched_at = timezone.now()
    conversation.save(update_fields=["branched_at"])
