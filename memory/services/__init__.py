"""Every write to layers 1 to 5.
Doors import from here; which file holds a topic is this package's business.
"""

from memory.services.bulk import episodic_write_many
from memory.services.documents import document_replace, document_restore
from memory.services.episodic import EpisodicDraft, episodic_delete, episodic_edit, episodic_write
from memory.services.history import history_append, history_prune
from memory.services.restore import memory_restore
from memory.services.review import review_accept, review_add, review_merge, review_reject, review_reopen
from memory.services.semantic import semantic_delete, semantic_set_if_absent, semantic_write

__all__ = [
    "EpisodicDraft",
    "document_replace",
    "document_restore",
    "episodic_delete",
    "episodic_edit",
    "episodic_write",
    "episodic_write_many",
    "history_append",
    "history_prune",
    "memory_restore",
    "review_accept",
    "review_add",
    "review_merge",
    "review_reject",
    "review_reopen",
    "semantic_delete",
    "semantic_set_if_absent",
    "semantic_write",
]
