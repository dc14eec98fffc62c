"""A base as a file that all processes map into memory: [faiss index][padding][ids,
numbers][stamp][length][digest][magic].

Whatever is not exactly what was written for this space and collection is refused; the reader then uses the
rows.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from django.conf import settings

from crewsite.search.vector_index.base import FaissBase

if TYPE_CHECKING:
    from crewsite.search.vector_index.rows import SpaceKey

logger = logging.getLogger(__name__)

_FORMAT: Final = 1
_MAGIC: Final = b"CREWBASE"
_DIGEST_BYTES: Final = 32
_LENGTH_BYTES: Final = 8
_FOOTER_BYTES: Final = _LENGTH_BYTES + _DIGEST_BYTES + len(_MAGIC)
_ALIGN_BYTES: Final = 64
_CHUNK_BYTES: Final = 1 << 20
_STAMP_BYTES_MAX: Final = 1 << 16
_SAFE: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file says it is."""

    format: int
    space: int
    signature: str
    opened: str
    collection: str
    dim: int
    rows: int
    dead: int
    last_seq: int
    index_bytes: int
    arrays_at: int


@dataclass(frozen=True, slots=True)
class FileState:
    """Which file a path names: a changed file is another state."""

    inode: int
    size: int
    changed_ns: int


class BaseFileRefused(Exception):
    """The file is torn, changed, or of another collection. The message says which."""


def base_path(space_id: int, collection: str) -> Path:
    mark = hashlib.md5(collection.encode(), usedforsecurity=False).hexdigest()[:8]
    return index_folder(space_id) / f"{_SAFE.sub('_', collection.lower())[:40]}-{mark}.base"


def index_folder(space_id: int | str = "") -> Path:
    return Path(settings.CREW_HOME) / "index" / str(space_id)


def file_state(path: Path) -> FileState | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


def base_write(path: Path, base: FaissBase, *, space: SpaceKey, collection: str) -> None:
    """Written beside its place and moved there whole. A process that has the old file mapped keeps it until
    it looks.
    """
    import faiss

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        faiss.write_index(base.index, str(draft))
        with draft.open("r+b") as file:
            _append(file, base, space, collection)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def drafts_remove(path: Path) -> None:
    """What writers that were killed left beside a base file. Call it only as the one writer."""
    for draft in path.parent.glob(f"{path.name}.*.tmp"):
        draft.unlink(missing_ok=True)


def _append(file: IO[bytes], base: FaissBase, space: SpaceKey, collection: str) -> None:
    index_bytes = file.seek(0, os.SEEK_END)
    arrays_at = -(-index_bytes // _ALIGN_BYTES) * _ALIGN_BYTES
    file.write(bytes(arrays_at - index_bytes))
    for array in (base.ids, base.seqs, base.dead_ids, base.dead_seqs):
        file.write(array.astype("<i8").tobytes())
    stamp = Stamp(
        format=_FORMAT,
        space=space.id,
        signature=space.signature,
        opened=space.opened,
        collection=collection,
        dim=space.dim,
        rows=len(base.ids),
        dead=len(base.dead_ids),
        last_seq=base.last_seq,
        index_bytes=index_bytes,
        arrays_at=arrays_at,
    )
    text = json.dumps(asdict(stamp)).encode()
    file.write(text + len(text).to_bytes(_LENGTH_BYTES, "little"))
    end = file.tell()
    file.flush()
    file.write(_digest(file, end) + _MAGIC)
    file.flush()
    os.fsync(file.fileno())


def _digest(file: IO[bytes], end: int) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    file.seek(0)
    left = end
    while left > 0:
        chunk = file.read(min(left, _CHUNK_BYTES))
        if not chunk:
            break
        digest.update(chunk)
        left -= len(chunk)
    file.seek(end)
    return digest.digest()


def stamp_read(path: Path, *, check: bool = True) -> Stamp:
    """The stamp at the end of the file; with `check` every byte is compared with the digest.

    Raises BaseFileRefused, or OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < _FOOTER_BYTES:
            raise BaseFileRefused("it is too short")
        file.seek(size - _FOOTER_BYTES)
        footer = file.read(_FOOTER_BYTES)
        if footer[-len(_MAGIC) :] != _MAGIC:
            raise BaseFileRefused("its end is missing")
        length = int.from_bytes(footer[:_LENGTH_BYTES], "little")
        if not 0 < length <= min(_STAMP_BYTES_MAX, size - _FOOTER_BYTES):
            raise BaseFileRefused("its stamp has no length")
        if (
            check
            and _digest(file, size - _DIGEST_BYTES - len(_MAGIC)) != footer[_LENGTH_BYTES : -len(_MAGIC)]
        ):
            raise BaseFileRefused("its bytes do not match their digest")
        file.seek(size - _FOOTER_BYTES - length)
        try:
            return Stamp(**json.loads(file.read(length)))
        except (ValueError, TypeError) as error:
            raise BaseFileRefused("its stamp cannot be read") from error


def base_open(path: Path, *, space: SpaceKey, collection: str) -> tuple[FaissBase, FileState] | None:
    """The base and which file it is; None, with a log line, when there is none that may be trusted."""
    before = file_state(path)
    if before is None:
        return None
    try:
        stamp = stamp_read(path)
        _check_owner(stamp, space, collection)
        base = _map(path, stamp)
        if file_state(path) != before:
            raise BaseFileRefused("it changed while it was read")
    except (BaseFileRefused, OSError, RuntimeError, ValueError) as error:
        logger.warning("The index file %s is not used: %s. Reading the rows instead.", path.name, error)
        return None
    return base, before


def _check_owner(stamp: Stamp, space: SpaceKey, collection: str) -> None:
    if stamp.format != _FORMAT:
        raise BaseFileRefused(f"it has format {stamp.format}")
    if (stamp.space, stamp.signature, stamp.opened, stamp.dim) != (
        space.id,
        space.signature,
        space.opened,
        space.dim,
    ):
        raise BaseFileRefused("it is of another space")
    if stamp.collection != collection:
        raise BaseFileRefused(f"it is of {stamp.collection}")


def _map(path: Path, stamp: Stamp) -> FaissBase:
    import faiss

    index: Any = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_MMAP_IFC)
    if index.ntotal != stamp.rows or index.d != stamp.dim:
        raise BaseFileRefused("its index does not match its stamp")
    with path.open("rb") as file:
        file.seek(stamp.arrays_at)
        count = 2 * (stamp.rows + stamp.dead)
        numbers = np.frombuffer(file.read(count * 8), dtype="<i8").astype(np.int64)
    if len(numbers) != count:
        raise BaseFileRefused("its ids are missing")
    cuts = (stamp.rows, 2 * stamp.rows, 2 * stamp.rows + stamp.dead)
    ids, seqs, dead_ids, dead_seqs = np.split(numbers, cuts)
    return FaissBase(
        index, ids=ids, seqs=seqs, dead_ids=dead_ids, dead_seqs=dead_seqs, last_seq=stamp.last_seq
    )
