"""Which back end the settings ask for: a model file named by the environment, an endpoint, the model chosen
on this host, or the compact one. Choosing with everything that hangs on it is `switching`'s."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from crewsite.embeddings.absent import AbsentEmbedder
from crewsite.embeddings.models_catalog import COMPACT, spec_for_file

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import EmbeddingBackend


def models_folder() -> Path:
    return Path(settings.CREW_HOME) / "models"


def compact_path() -> Path:
    return models_folder() / COMPACT.filename


def _choice() -> Path:
    """Models lie on a host, so what is chosen is noted beside them and not in the database."""
    return models_folder() / "chosen"


def chosen_path() -> Path:
    """The file `crew embeddings use` chose on this host; the compact model's place without a choice."""
    try:
        named = _choice().read_text().strip()
    except OSError:
        named = ""
    return Path(named) if named else compact_path()


def named_path() -> Path:
    """The file that the environment names, else the chosen one."""
    pinned = str(settings.CREW_EMBED_MODEL_PATH or "")
    return Path(pinned).expanduser() if pinned else chosen_path()


def choice_put(path: Path) -> None:
    """From now on processes that start use this file. The compact model is what there is without a choice."""
    if path == compact_path():
        _choice().unlink(missing_ok=True)
        return
    models_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = _choice().with_suffix(".new")
    staged.write_text(f"{path}\n")
    staged.replace(_choice())


def pinned_by() -> str:
    """The variable of the environment that says which model runs, or nothing."""
    for name in ("CREW_EMBED_MODEL_PATH", "CREW_EMBED_BASE_URL"):
        if getattr(settings, name):
            return name
    return ""


def configured_backend() -> EmbeddingBackend:
    """CREW_EMBED_MODEL_PATH, else CREW_EMBED_BASE_URL, else the chosen model, else the compact one, else
    none."""
    path = named_path()
    if settings.CREW_EMBED_MODEL_PATH and not path.is_file():
        return AbsentEmbedder(f"CREW_EMBED_MODEL_PATH names no file: {path}")
    if settings.CREW_EMBED_BASE_URL and not settings.CREW_EMBED_MODEL_PATH:
        from crewsite.embeddings.endpoint import EndpointEmbedder

        return EndpointEmbedder(
            base_url=settings.CREW_EMBED_BASE_URL,
            api_key=settings.CREW_EMBED_API_KEY,
            model=settings.CREW_EMBED_MODEL,
        )
    if path.is_file():
        return backend_of(path)
    if path != compact_path():
        remedy = "Put it back, or run: crew embeddings use compact"
        return AbsentEmbedder(f"The chosen model is gone: {path}. {remedy}")
    return AbsentEmbedder("No model is installed. Run: crew embeddings install")


def backend_of(path: Path) -> EmbeddingBackend:
    from crewsite.embeddings.llama_cpp_backend import LlamaCppEmbedder

    return LlamaCppEmbedder(path, spec_for_file(path.stem))
