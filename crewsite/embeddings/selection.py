"""Which back end the settings ask for: a model file named by the environment, an endpoint, or an installed
model."""

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


def configured_backend() -> EmbeddingBackend:
    """CREW_EMBED_MODEL_PATH, else CREW_EMBED_BASE_URL, else the installed compact model, else none."""
    pinned = str(settings.CREW_EMBED_MODEL_PATH or "")
    if pinned:
        path = Path(pinned).expanduser()
        if not path.is_file():
            return AbsentEmbedder(f"CREW_EMBED_MODEL_PATH names no file: {path}")
        return _llama(path)
    if settings.CREW_EMBED_BASE_URL:
        from crewsite.embeddings.endpoint import EndpointEmbedder

        return EndpointEmbedder(
            base_url=settings.CREW_EMBED_BASE_URL,
            api_key=settings.CREW_EMBED_API_KEY,
            model=settings.CREW_EMBED_MODEL,
        )
    path = compact_path()
    if path.is_file():
        return _llama(path)
    return AbsentEmbedder("No model is installed. Run: crew embeddings install")


def _llama(path: Path) -> EmbeddingBackend:
    from crewsite.embeddings.llama_cpp_backend import LlamaCppEmbedder

    return LlamaCppEmbedder(path, spec_for_file(path.stem))
