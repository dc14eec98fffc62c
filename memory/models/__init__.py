"""Tables of layers 1 to 5, of the review queue and of consolidation."""

from memory.models.documents import PreferencesDocument, ProjectsDocument, VersionedDocument
from memory.models.episodic import EpisodicMemory
from memory.models.history import HistoryEntry
from memory.models.receipt import ConsolidationReceipt
from memory.models.review import ReviewItem
from memory.models.semantic import SemanticMemory

__all__ = [
    "ConsolidationReceipt",
    "EpisodicMemory",
    "HistoryEntry",
    "PreferencesDocument",
    "ProjectsDocument",
    "ReviewItem",
    "SemanticMemory",
    "VersionedDocument",
]
