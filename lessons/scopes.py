"""Scopes: fragments of a path that say which projects a lesson reaches. Pure."""

from __future__ import annotations

from typing import Final

from crewsite.security.text import clean

# A deeper path is matched by its last folders only; 24 give 300 fragments, well within what one query may
# ask for.
MAX_FOLDERS: Final = 24


def normal_scope(scope: str) -> str:
    """A path fragment with single forward slashes and none at its ends; case stays, as in file names."""
    return "/".join(_folders(scope))


def scopes_of(project: str) -> list[str]:
    """Every scope a project path lies in: each run of neighbouring folders. `/srv/shop/api` lies in `srv`,
    `shop/api`...
    """
    folders = _folders(project)[-MAX_FOLDERS:]
    count = len(folders)
    return ["/".join(folders[start:end]) for start in range(count) for end in range(start + 1, count + 1)]


def _folders(path: str) -> list[str]:
    parts = (part.strip() for part in clean(path).replace("\\", "/").split("/"))
    return [part for part in parts if part not in {"", "."}]
