"""Model files on the disk: what names their bytes, and putting them in place whole."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def put_in_place(staged: Path, place: Path) -> None:
    """Under its final name a file is whole, whenever the power goes."""
    _flush(staged)
    staged.replace(place)
    _flush(place.parent)


def _flush(path: Path) -> None:
    """To the disk before the name changes, so that a power cut leaves the old state or the new one."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
