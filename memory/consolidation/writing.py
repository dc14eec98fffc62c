"""Writing what a pass found: every row, the marker and the receipt in one transaction, or nothing. The range
and the documents are checked again first, under the locks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crewsite.conversations.models import Conversation
from crewsite.embeddings.service import embed_document
from crewsite.security.text import clean
from memory.consolidation.cleaning import Cleaner
from memory.consolidation.documents import CurrentDocument, carried_on, current_document
from memory.consolidation.extensions import Extension, WriteContext, extensions_for
from memory.consolidation.outcomes import Ledger
from memory.consolidation.placeholders import is_placeholder
from memory.consolidation.receipts import receipt_done
from memory.consolidation.transcript import Transcript, marker_field, transcript_freeze
from memory.models import ConsolidationReceipt
from memory.rules import clean_value
from memory.services import document_replace, episodic_write, history_append, semantic_write
from memory.services.locks import home_locked
from memory.services.semantic import index_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crewsite.llm.structured import Structured
    from memory.consolidation.asking import Question
    from memory.consolidation.schemas import EntryOut, EpisodeOut, FactOut


@dataclass(slots=True)
class Plan:
    """A cleaned answer, ready to be written."""

    texts: list[tuple[CurrentDocument, str]]
    facts: list[FactOut]
    entries: list[EntryOut]
    episodes: list[EpisodeOut]
    extended: list[tuple[Extension, list[Any]]]
    ledger: Ledger
    cleaner: Cleaner


def plan_of(answer: Any, path: str, transcript: Transcript, documents: Sequence[CurrentDocument]) -> Plan:
    """Redact and sift an answer. Pure but for the settings that name the extensions."""
    ledger = Ledger()
    cleaner = Cleaner(ledger)
    texts = []
    for document in documents:
        text, put_back = carried_on(
            cleaner.text(document.layer, getattr(answer, document.layer)),
            document,
            contradicted=answer.contradicted,
            transcript=transcript,
        )
        for _ in put_back:
            ledger.count(document.layer, "line_carried_on")
        texts.append((document, text))
    is_history = path == ConsolidationReceipt.Path.HISTORY
    return Plan(
        texts=texts,
        facts=[] if is_history else cleaner.facts(answer.facts),
        entries=cleaner.entries(answer.entries) if is_history else [],
        episodes=cleaner.episodes(answer.episodes) if is_history else [],
        extended=[
            (extension, cleaner.extension(extension, getattr(answer, extension.name)))
            for extension in extensions_for(path)
        ],
        ledger=ledger,
        cleaner=cleaner,
    )


def embed_ahead(plan: Plan, context: WriteContext) -> None:
    """Fill the embedder's cache, so that no service embeds while the locks are held."""
    for fact in plan.facts:
        embed_document(index_text(fact.key, clean_value(fact.value)))
    for episode in plan.episodes:
        embed_document(clean(episode.text).strip())
    for extension, items in plan.extended:
        extension.embed_ahead(items, context)


def write(
    plan: Plan,
    *,
    question: Question,
    transcript: Transcript,
    answer: Structured[Any],
    context: WriteContext,
) -> ConsolidationReceipt | None:
    """The receipt, or None when the conversation or a document has changed since it was read."""
    with ExitStack() as locks:
        # In the order of their ids, so that two passes never wait for each other.
        for home in sorted({context.workspace, context.home}, key=lambda row: row.pk):
            locks.enter_context(home_locked(home))
        # Rows that refer to the conversation may be written meanwhile, hence no_key.
        row = Conversation.objects.select_for_update(no_key=True).filter(pk=context.conversation.pk).first()
        if row is None or not is_unchanged(
            row, question.path, transcript, [document for document, _ in plan.texts]
        ):
            return None
        _write_documents(plan, context)
        _write_facts(plan, context)
        _write_history(plan, transcript, context)
        _write_episodes(plan, transcript, context)
        for extension, items in plan.extended:
            extension.write(items, context, plan.ledger)
        plan.cleaner.record(home=context.home, origin=context.origin)
        marker = marker_field(question.path)
        setattr(row, marker, transcript.last_seq)
        row.save(update_fields=[marker])
        return receipt_done(
            conversation=row, question=question, transcript=transcript, answer=answer, ledger=plan.ledger
        )


def is_unchanged(
    row: Conversation, path: str, transcript: Transcript, documents: Sequence[CurrentDocument]
) -> bool:
    """Whether the range still reads as it was frozen, is still to be done, and nobody replaced a document.

    A history pass also waits when anything was said after the range: the conversation is not at rest.
    """
    marker = getattr(row, marker_field(path))
    if not (row.learns and row.writes_memory) or marker != transcript.first_seq - 1:
        return False
    again = transcript_freeze(row, after_seq=marker, until_seq=transcript.last_seq)
    if again is None or again.fingerprint != transcript.fingerprint:
        return False
    if path == ConsolidationReceipt.Path.HISTORY and again.newest_seq != transcript.newest_seq:
        return False
    return all(
        current_document(document.model, row.workspace).version == document.version for document in documents
    )


def _write_documents(plan: Plan, context: WriteContext) -> None:
    for document, text in plan.texts:
        if not document.version and not text.strip():
            plan.ledger.count(document.layer, "empty")
            continue
        if text.strip() and is_placeholder(text):
            plan.ledger.refuse(document.layer, text, code="placeholder", message="The text is a placeholder.")
            continue
        result = document_replace(
            model=document.model,  # type: ignore[type-var]
            workspace=context.workspace,
            text=text,
            origin=context.origin,
            now=context.now,
        )
        if result.outcome == "replaced" and result.row is not None:
            plan.ledger.wrote(document.layer, result.outcome, result.row.pk)
        elif result.outcome == "refused":
            plan.ledger.refuse(document.layer, text, code=result.code, message=result.message)
        else:
            plan.ledger.count(document.layer, result.outcome)


def _write_facts(plan: Plan, context: WriteContext) -> None:
    for fact in plan.facts:
        result = semantic_write(
            home=context.home,
            key=fact.key,
            value=fact.value,
            confidence=fact.confidence,
            origin=context.origin,
            now=context.now,
        )
        if result.outcome in {"created", "updated"} and result.row is not None:
            plan.ledger.wrote("semantic", result.outcome, result.row.pk)
        elif result.outcome == "refused":
            shown = f"{fact.key} = {fact.value}"
            plan.ledger.refuse("semantic", shown, code=result.code, message=result.message)
        else:
            plan.ledger.count("semantic", result.outcome)


def _write_history(plan: Plan, transcript: Transcript, context: WriteContext) -> None:
    for entry in plan.entries:
        result = history_append(
            workspace=context.workspace,
            title=entry.title,
            text=entry.text,
            at=transcript.moment_of(entry.message),
            conversation=context.conversation,
            origin=context.origin,
        )
        if result.row is not None:
            plan.ledger.wrote("history", result.outcome, result.row.pk)
        else:
            plan.ledger.refuse(
                "history", f"{entry.title} {entry.text}", code=result.code, message=result.message
            )


def _write_episodes(plan: Plan, transcript: Transcript, context: WriteContext) -> None:
    for episode in plan.episodes:
        result = episodic_write(
            home=context.home,
            text=episode.text,
            importance=episode.importance,
            tags=episode.tags,
            created_at=transcript.moment_of(episode.message),
            origin=context.origin,
            now=context.now,
        )
        if result.outcome == "stored" and result.row is not None:
            plan.ledger.wrote("episodic", result.outcome, result.row.pk)
        elif result.outcome == "refused":
            plan.ledger.refuse("episodic", episode.text, code=result.code, message=result.message)
        else:
            plan.ledger.count("episodic", result.outcome)
