"""Choosing the embedding model: what a name or path stands for, whether the file works, starting the
switch. The switch itself is `switching`'s."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import transaction

from crewsite.embeddings.constants import MODEL_READY_SECONDS
from crewsite.embeddings.errors import ModelUnusable, SwitchConflict
from crewsite.embeddings.models import Space, Vector
from crewsite.embeddings.models_catalog import CATALOG, COMPACT, spec_for_file
from crewsite.embeddings.selection import compact_path, models_folder, pinned_by
from crewsite.jobs.models import Job
from crewsite.jobs.services import job_queue

SWITCH_KIND: Final = "model_switch"
SWITCH_TASK: Final = "crewsite.embeddings.switching.model_switch"
COMPACT_WORDS: Final = frozenset({"", "compact", COMPACT.model_id})


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that was loaded and embeds."""

    model_id: str
    path: Path
    size_bytes: int
    dim: int


def model_use(*, model: str) -> Job:
    """Queue the switch to a model: `compact` or nothing, an id of the catalogue, or the path of a GGUF file.

    Raises ModelUnusable when there is no such file and SwitchConflict when it may not be switched now.
    """
    path = model_path(model)
    refuse_switch()
    with transaction.atomic():
        if Job.objects.of_kind(SWITCH_KIND).active().exists():
            raise SwitchConflict("Another model is being switched to. Wait for it.", code="switch_running")
        return job_queue(
            kind=SWITCH_KIND,
            task=SWITCH_TASK,
            args=[str(path)],
            detail={"model_id": spec_for_file(path.stem).model_id},
        )


def vectors_outdate() -> int:
    """Have every vector of the active space made again by the next backfill; each serves until then."""
    active = Vector.objects.filter(space__status=Space.Status.ACTIVE, data__isnull=False)
    return active.update(text_hash="")


def model_check(*, model: str, seconds: float = MODEL_READY_SECONDS) -> ModelFile:
    """Load the file in a process of its own and embed a word. Raises ModelUnusable; its code is `model_slow`
    when it took longer."""
    path = model_path(model)
    command = [sys.executable, "-m", "crewsite.embeddings.probe", str(path)]
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command, capture_output=True, text=True, timeout=seconds, check=False
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        reason = f"{path} was not loaded within {seconds:.0f} s."
        raise ModelUnusable(reason, code="model_slow") from error
    except ValueError as error:
        reason = f"{path} makes the model library fail (exit code {done.returncode}). Is the file damaged?"
        raise ModelUnusable(reason, code="model_unusable") from error
    if "error" in answer:
        raise ModelUnusable(str(answer["error"]), code="model_unusable")
    return ModelFile(spec_for_file(path.stem).model_id, path, path.stat().st_size, int(answer["dim"]))


def model_path(model: str) -> Path:
    """The file a name stands for. Raises ModelUnusable when it is not there."""
    if model in COMPACT_WORDS:
        path, remedy = compact_path(), "Run: crew embeddings install"
    elif spec := CATALOG.get(model):
        path = models_folder() / spec.filename
        remedy = f"Run: crew embeddings install {spec.model_id}"
    else:
        path = _expanded(model)
        remedy = f"Name a GGUF file, or one of: {', '.join(CATALOG)}."
    if not os.path.isfile(path):  # noqa: PTH113 - `Path.is_file` raises for a name that is too long
        raise ModelUnusable(f"There is no {path}. {remedy}", code="model_missing")
    return path


def _expanded(model: str) -> Path:
    try:
        return Path(model).expanduser().absolute()
    except RuntimeError:  # there is no such person behind `~`
        return Path(model).absolute()


def refuse_switch() -> None:
    if pinned := pinned_by():
        raise SwitchConflict(
            f"{pinned} says which model runs. Unset it and start the site again to choose another.",
            code="model_pinned",
        )
