"""Tables of layers 1 to 5 and of the review queue."""

from memory.models.documents import PreferencesDocument, ProjectsDocument, VersionedDocument
from memory.models.episodic import EpisodicMemory
from memory.models.history import HistoryEntry
from memory.models.review import ReviewItem
from memory.models.semantic import SemanticMemory

__all__ = [
    "EpisodicMemory",
    "HistoryEntry",
    "PreferencesDocument",
    "ProjectsDocument",
    "ReviewItem",
    "SemanticMemory",
    "VersionedDocument",
]
