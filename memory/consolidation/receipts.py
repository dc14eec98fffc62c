"""Writing receipts: one row for each range of a conversation on a path, whatever became of it."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from memory.consolidation.constants import (
    BACKOFF_FIRST_SECONDS,
    BACKOFF_MAX_SECONDS,
    MAX_TRIES,
    REASON_MAX_CHARS,
)
from memory.models import ConsolidationReceipt

if TYPE_CHECKING:
    from crewsite.conversations.models import Conversation
    from crewsite.llm.errors import LlmError
    from crewsite.llm.structured import Structured
    from memory.consolidation.asking import Question
    from memory.consolidation.outcomes import Ledger
    from memory.consolidation.transcript import Transcript

State = ConsolidationReceipt.State


def receipt_done(
    *,
    conversation: Conversation,
    question: Question,
    transcript: Transcript,
    answer: Structured[Any],
    ledger: Ledger,
) -> ConsolidationReceipt:
    """In the caller's transaction, which also writes what the receipt names."""
    receipt = _receipt(conversation, question.path, transcript)
    _describe(receipt, question, transcript)
    receipt.state, receipt.reason, receipt.retry_at = State.DONE, "", None
    receipt.model, receipt.usage = answer.model, answer.usage
    receipt.counts, receipt.refused = ledger.counts_as_json(), ledger.refused
    receipt.written = ledger.written
    receipt.save()
    return receipt


def receipt_read(
    *, conversation: Conversation, transcript: Transcript, ledger: Ledger
) -> ConsolidationReceipt:
    """For a stretch whose explicit requests were looked for without a model."""
    receipt = _receipt(conversation, ConsolidationReceipt.Path.REQUESTS, transcript)
    receipt.state, receipt.messages = State.DONE, len(transcript.lines)
    receipt.fingerprint = transcript.fingerprint
    receipt.counts, receipt.refused = ledger.counts_as_json(), ledger.refused
    receipt.written = ledger.written
    receipt.save()
    return receipt


def receipt_failed(
    *,
    conversation: Conversation,
    question: Question,
    transcript: Transcript,
    error: LlmError,
    model: str,
    now: dt.datetime | None = None,
) -> ConsolidationReceipt:
    """Note a failed attempt, and when the range is tried again by itself: at the next tick while its tries
    last, later when the endpoint was not there, never when the request itself was refused."""
    now = now or timezone.now()
    with transaction.atomic():
        receipt = _receipt(conversation, question.path, transcript)
        _describe(receipt, question, transcript)
        receipt.state, receipt.model = State.FAILED, model
        receipt.reason = error.reason[:REASON_MAX_CHARS]
        if error.deferred:
            receipt.deferred += 1
            receipt.retry_at = now + backoff(receipt.deferred, error.retry_after_s)
        else:
            receipt.tries += 1
            receipt.retry_at = now if error.retryable and receipt.tries < MAX_TRIES else None
        receipt.save()
    return receipt


def backoff(attempt: int, retry_after_s: float | None) -> dt.timedelta:
    """A minute, doubling up to an hour, or longer if the endpoint said so."""
    doubled = min(BACKOFF_FIRST_SECONDS * 2 ** min(attempt - 1, 10), BACKOFF_MAX_SECONDS)
    return dt.timedelta(seconds=max(doubled, retry_after_s or 0))


def _receipt(conversation: Conversation, path: str, transcript: Transcript) -> ConsolidationReceipt:
    key: dict[str, Any] = {
        "conversation": conversation,
        "path": path,
        "first_seq": transcript.first_seq,
        "last_seq": transcript.last_seq,
    }
    known = ConsolidationReceipt.objects.filter(**key).first()
    return known or ConsolidationReceipt(workspace_id=conversation.workspace_id, **key)


def _describe(receipt: ConsolidationReceipt, question: Question, transcript: Transcript) -> None:
    receipt.messages, receipt.messages_cut = len(transcript.lines), question.messages_cut
    receipt.fingerprint = transcript.fingerprint
    receipt.prompt_version, receipt.prompt_hash = question.version, question.sha256
