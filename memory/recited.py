"""What assistants said out of memory that was deleted since. It stays in its conversation, which is the
person's own, and answers no search.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db.models import Q
from django.utils.module_loading import import_string

from crewsite.conversations.models import Message
from crewsite.rows import TombstonableRow
from crewsite.search.words import STOP_WORDS, has_unspaced, word_set
from memory.constants import RECITED_SHARE, RECITED_WORD_CHARS
from memory.layers import memory_layers
from memory.services.episodic import CAPACITY
from memory.services.retire import REASON as RETIRED
from memory.services.semantic import SUPERSEDED
from memory.words import detect_language

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crewsite.accounts.models import Workspace

# Rows that gave way by themselves: nobody asked that they be forgotten.
GAVE_WAY: Final = (SUPERSEDED, RETIRED, CAPACITY)


def recited(messages: Sequence[Message], *, query: str, workspace: Workspace) -> set[int]:
    """Ids of answers that tell what a person deleted since from memory: a row that their conversation was
    given in a prompt or by a tool, or stored. In a fixed number of statements; read with their questions.
    """
    answers = [message for message in messages if message.role == Message.Role.ASSISTANT]
    if not answers:
        return set()
    telling = [words for text in _deleted_texts(answers, workspace) if (words := telling_words(text))]
    found = set()
    for answer in answers:
        known = word_set(answer.parent.content) if answer.parent is not None else frozenset()
        said = word_set(answer.content)
        if any(is_told(words - known, said, query=word_set(query)) for words in telling):
            found.add(answer.pk)
    return found


def telling_words(text: str) -> frozenset[str]:
    """The words by which a text is known: not the function words of its language, nor short ones."""
    stop = STOP_WORDS[detect_language(text)]
    return frozenset(word for word in word_set(text) if word not in stop and _is_telling(word))


def is_told(words: frozenset[str], said: frozenset[str], *, query: frozenset[str]) -> bool:
    """`words` are those of the row that the answer's question did not say. One is enough that this search
    asks for, since it would have found the row by it."""
    told = words & said
    return bool(told & query) or bool(told and len(told) >= RECITED_SHARE * len(words))


def _is_telling(word: str) -> bool:
    return len(word) >= RECITED_WORD_CHARS or any(map(str.isdigit, word)) or has_unspaced(word)


def _deleted_texts(answers: Sequence[Message], workspace: Workspace) -> list[str]:
    injected = import_string(settings.INJECTED_ROWS)
    conversations = {answer.conversation_id for answer in answers}
    by_tools = _rows_of_tools(answers)
    texts = []
    for layer in memory_layers():
        rows = layer.rows(workspace)
        if not issubclass(rows.model, TombstonableRow):
            continue
        gone = rows.filter(is_deleted=True).exclude(deleted_reason__in=GAVE_WAY)
        given = Q(pk__in=injected(kind=layer.name, conversation_ids=conversations))
        texts += [layer.text(row) for row in gone.filter(given | Q(pk__in=by_tools[layer.name]))]
    return texts


def _rows_of_tools(answers: Iterable[Message]) -> dict[str, set[int]]:
    """By layer, what the answers' tool calls found or stored."""
    found: dict[str, set[int]] = defaultdict(set)
    calls = Message.objects.filter(pk__in=[answer.pk for answer in answers]).exclude(tool_calls=[])
    for listed in calls.values_list("tool_calls", flat=True):
        for call in listed:
            data = call.get("data") or {}
            for row in (data, *data.get("hits", ())):
                if isinstance(row.get("id"), int):
                    found[str(row.get("kind", ""))].add(row["id"])
    return found
