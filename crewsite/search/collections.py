"""Names of collections: kind and owner. Scope is part of every index because every index is kept per
collection.
"""

from __future__ import annotations

COLLECTION_CHARS_MAX = 80


def collection_name(kind: str, owner_id: int | str) -> str:
    """`episodic:1`. Raises ValueError for a kind that would make two names look alike, or a name too long."""
    if not kind or ":" in kind:
        raise ValueError(f"{kind!r} is no kind of object.")
    name = f"{kind}:{owner_id}"
    if len(name) > COLLECTION_CHARS_MAX:
        raise ValueError(f"Collection name {name!r} is longer than {COLLECTION_CHARS_MAX} characters.")
    return name
