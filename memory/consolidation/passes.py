"""One pass over one conversation, from the lease to the receipt. When a pass runs is decided in `pending`."""

from __future__ import annotations

import datetime as dt
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils import timezone

from crewsite.conversations.models import Conversation
from crewsite.jobs.beats import renewing
from crewsite.jobs.errors import MaintenanceInProgress
from crewsite.jobs.leases import lease_renew, leased
from crewsite.jobs.services import JobStopped, job_progress
from crewsite.llm.constants import CONNECT_HINT
from crewsite.llm.errors import LlmError
from crewsite.llm.targets import model_name
from crewsite.security.origin import Origin, Source, Surface
from memory.consolidation.asking import Question, ask, question_for, role_of
from memory.consolidation.constants import LEASE_SECONDS, RENEW_SECONDS
from memory.consolidation.documents import CurrentDocument, current_document
from memory.consolidation.extensions import WriteContext
from memory.consolidation.outcomes import PassOutcome
from memory.consolidation.pending import block_note, is_due
from memory.consolidation.receipts import receipt_failed
from memory.consolidation.transcript import Transcript, marker_field, transcript_freeze
from memory.consolidation.writing import embed_ahead, plan_of, write
from memory.models import ConsolidationReceipt, PreferencesDocument, ProjectsDocument

if TYPE_CHECKING:
    from crewsite.jobs.models import Job, Lease

logger = logging.getLogger(__name__)

DOCUMENTS = (PreferencesDocument, ProjectsDocument)
LOST = PassOutcome("busy", "Another worker has taken over.")


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a pass starts from, read once."""

    conversation: Conversation
    transcript: Transcript
    documents: tuple[CurrentDocument, ...]
    question: Question


def pass_run(
    *,
    conversation_id: UUID | str,
    path: str,
    is_asked: bool = False,
    is_dry: bool = False,
    job: Job | None = None,
    now: dt.datetime | None = None,
) -> PassOutcome:
    """Consolidate what is pending on a path. Nothing is written unless all of it is.

    `is_asked`: a person wants it now, whatever the triggers and failed tries say. `is_dry` stops before the
    model. The calls to the model and to the embedder happen outside of transactions.
    """
    with leased(f"consolidation:{path}:{conversation_id}", LEASE_SECONDS) as lease:
        if lease is None:
            return PassOutcome("busy", "Another worker is at it.")
        now = now or timezone.now()
        frozen = _freeze(conversation_id, path)
        if isinstance(frozen, PassOutcome):
            return frozen
        if not is_asked:
            held = _held_back(frozen, path, now)
            if held is not None:
                return held
        if is_dry:
            return PassOutcome("dry_run", _described(frozen))
        model = model_name(role_of(path))
        if not model:
            return PassOutcome("no_model", CONNECT_HINT)
        with renewing(lease, seconds=LEASE_SECONDS, every=RENEW_SECONDS):
            return _ask_and_write(frozen, model, lease, job, now)


def _freeze(conversation_id: UUID | str, path: str) -> Frozen | PassOutcome:
    row = Conversation.objects.select_related("workspace__memory_home").filter(pk=conversation_id).first()
    if row is None:
        return PassOutcome("nothing", "The conversation is gone.")
    if not (row.learns and row.writes_memory):
        return PassOutcome("nothing", "The conversation writes no memory.")
    documents: tuple[CurrentDocument, ...] = ()
    if path == ConsolidationReceipt.Path.PREFERENCES:
        documents = tuple(current_document(model, row.workspace) for model in DOCUMENTS)
    transcript = transcript_freeze(row, after_seq=getattr(row, marker_field(path)))
    if transcript is None:
        return PassOutcome("nothing", "Nothing is left to consolidate.")
    return Frozen(row, transcript, documents, question_for(path, row, transcript, documents))


def _held_back(frozen: Frozen, path: str, now: dt.datetime) -> PassOutcome | None:
    conversation, transcript = frozen.conversation, frozen.transcript
    if not is_due(conversation, path, len(transcript.lines), now):
        return PassOutcome("waiting", "Not due yet.")
    failed = ConsolidationReceipt.objects.of(conversation, path).failed()
    receipt = failed.filter(first_seq=transcript.first_seq, last_seq=transcript.last_seq).first()
    if receipt is not None and receipt.is_blocked(now):
        return PassOutcome("waiting", block_note(receipt), receipt)
    return None


def _ask_and_write(
    frozen: Frozen, model: str, lease: Lease, job: Job | None, now: dt.datetime
) -> PassOutcome:
    question, transcript = frozen.question, frozen.transcript
    try:
        answer = ask(question)
        if job is not None:
            job_progress(job, message="The model has answered.")  # a cancelled job ends here
        if not lease_renew(lease, seconds=LEASE_SECONDS):
            return LOST
        plan = plan_of(answer.output, question.path, transcript, frozen.documents)
        context = _context(frozen.conversation, now)
        embed_ahead(plan, context)
        receipt = write(plan, question=question, transcript=transcript, answer=answer, context=context)
    except JobStopped:
        raise
    except MaintenanceInProgress:
        return PassOutcome("waiting", "The site is under maintenance; the pass stays pending.")
    except LlmError as error:
        held = lease_renew(lease, seconds=LEASE_SECONDS)
        return _failed(frozen, error, model, now) if held else LOST
    except Exception as error:
        logger.exception("A consolidation pass could not be written.")
        reason = f"The results could not be written: {type(error).__name__}."
        return _failed(frozen, LlmError(reason, retryable=True), model, now)
    if receipt is None:
        return PassOutcome("changed", "The conversation moved on meanwhile; the pass stays pending.")
    return PassOutcome("done", summary(receipt), receipt)


def _failed(frozen: Frozen, error: LlmError, model: str, now: dt.datetime) -> PassOutcome:
    receipt = receipt_failed(
        conversation=frozen.conversation,
        question=frozen.question,
        transcript=frozen.transcript,
        error=error,
        model=model,
        now=now,
    )
    return PassOutcome("failed", error.reason, receipt)


def _context(conversation: Conversation, now: dt.datetime) -> WriteContext:
    return WriteContext(
        conversation=conversation,
        workspace=conversation.workspace,
        home=conversation.workspace.home,
        origin=Origin(source=Source.CONSOLIDATION, surface=Surface.TASK, conversation_id=conversation.pk),
        now=now,
    )


def summary(receipt: ConsolidationReceipt) -> str:
    """`Messages 1-30. semantic: 2 created, 1 refused (low_confidence).`"""
    parts = [
        f"{layer}: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        for layer, outcomes in receipt.counts.items()
    ]
    codes = sorted({entry["code"] for entry in receipt.refused})
    said = "; ".join(parts) or "nothing worth keeping"
    refused = f" ({', '.join(codes)})" if codes else ""
    return f"Messages {receipt.first_seq}-{receipt.last_seq}. {said}{refused}."


def _described(frozen: Frozen) -> str:
    question, transcript = frozen.question, frozen.transcript
    chars = len(question.rendered.instructions) + len(question.rendered.data)
    cut = f", {question.messages_cut} of them left out" if question.messages_cut else ""
    return (
        f"Messages {transcript.first_seq}-{transcript.last_seq}: {len(transcript.lines)} to read{cut}, "
        f"{chars:,} characters, prompt {question.version}."
    )
