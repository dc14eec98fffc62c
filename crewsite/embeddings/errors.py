"""Why a model is not switched to. Each carries a code for programs and a sentence for people."""

from __future__ import annotations


class ModelRefused(Exception):
    """Nothing was changed; the message says what to do."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class ModelUnusable(ModelRefused):
    """The file is missing, is no embedding model, or does not work."""


class SwitchConflict(ModelRefused):
    """A switch runs already (`switch_running`), or the environment says which model runs (`model_pinned`)."""
