"""Messages as documents of the search index: which are, where, and as what text. How they are ranked is
memory's matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from crewsite.conversations.models import Conversation, Message
from crewsite.jobs.queue import enqueue
from crewsite.search.backfill import TASK as BACKFILL_TASK
from crewsite.search.collections import collection_name
from crewsite.search.service import documents_delete_many, documents_put_many
from crewsite.security.redaction import redact

KIND = "message"
_SPOKEN = (Message.Role.USER, Message.Role.ASSISTANT)


def transcript_collection(*, workspace_id: int, owner_id: int) -> str:
    """A person's conversations of one workspace: nobody else's search can come across them."""
    return collection_name(KIND, f"{workspace_id}-{owner_id}")


def transcripts() -> QuerySet[Message]:
    """Messages that may be found: what was said on the visible branch outside of private stretches."""
    kept = Q(private=False, is_searchable=True, is_current=True, role__in=_SPOKEN) & ~Q(content="")
    return Message.objects.filter(kept)


def message_text(message: Message) -> str:
    """`Caroline: what she said`, without keys and passwords: what is found is said again elsewhere."""
    return f"{speaker_of(message)}: {redact(message.content).text}"


def speaker_of(message: Message) -> str:
    if message.author_label:
        return message.author_label
    return message.author.username if message.author is not None else str(message.role)


def messages_index(
    messages: Sequence[Message], conversation: Conversation, *, with_vectors: bool = True
) -> None:
    """Keep the index in step with messages of one conversation, in the caller's transaction; their vectors
    are made in the background, unless the caller asks for them later by `vectors_later`.
    """
    collection = transcript_collection(workspace_id=conversation.workspace_id, owner_id=conversation.owner_id)
    kept = [message for message in messages if _is_kept(message)]
    documents_delete_many(
        collection=collection, object_ids=[message.pk for message in messages if not _is_kept(message)]
    )
    documents_put_many(collection=collection, items=[(message.pk, message_text(message)) for message in kept])
    if kept and with_vectors:
        vectors_later()


def vectors_later() -> None:
    """Have the vectors made that are missing, once the caller's transaction is through."""
    enqueue(BACKFILL_TASK)


def messages_unindex(message_ids: Sequence[int], conversation: Conversation) -> None:
    """Take messages out of the index, in the caller's transaction."""
    collection = transcript_collection(workspace_id=conversation.workspace_id, owner_id=conversation.owner_id)
    documents_delete_many(collection=collection, object_ids=list(message_ids))


def _is_kept(message: Message) -> bool:
    shown = message.is_current and message.is_searchable and not message.private
    return bool(message.role in _SPOKEN and message.content and shown)
