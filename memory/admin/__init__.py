"""Admin pages of layers 1 to 5 and of the review queue. Every change goes through a service."""

from memory.admin import consolidation, documents, episodes, facts, history, review

__all__ = ["consolidation", "documents", "episodes", "facts", "history", "review"]
