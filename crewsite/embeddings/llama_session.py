"""One loaded GGUF model and its context, over llama.cpp's C interface. No threads, no locks, no retries:
that is `llama_cpp_backend`. The C calls release the GIL, so other threads run during inference."""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crewsite.embeddings.constants import DEFAULT_WINDOW_TOKENS

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import FloatVector

GGUF_MAGIC = b"GGUF"

_last_lines: deque[str] = deque(maxlen=20)
_log_callback: Any = None


class ModelLoadError(Exception):
    """The file is not a usable embedding model; the message says why."""


class InferenceError(Exception):
    """llama.cpp refused a batch."""


class LlamaSession:
    """Embeds token windows. Must be used by one thread at a time, except for `tokenize`, which any may
    call."""

    def __init__(self, path: Path, *, max_tokens: int | None) -> None:
        import llama_cpp

        self._api = llama_cpp
        _silence(llama_cpp)
        _check_magic(path)
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), parameters)
        if not self._model:
            raise ModelLoadError(f"llama.cpp cannot load {path}: {_last_error()}")
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self.window = min(max_tokens or DEFAULT_WINDOW_TOKENS, llama_cpp.llama_model_n_ctx_train(self._model))
        self.dim = int(llama_cpp.llama_model_n_embd(self._model))
        self._context = self._open_context()
        if (
            not self._context
            or llama_cpp.llama_pooling_type(self._context) <= llama_cpp.LLAMA_POOLING_TYPE_NONE
        ):
            reason = "it pools no text vectors" if self._context else _last_error()
            self.close()
            raise ModelLoadError(f"{path} is no embedding model: {reason}")
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = self._open_batch()
        self._threads = 1
        frame = self._tokenize(b"", special=True)
        heads = 1 if frame and llama_cpp.llama_vocab_get_add_bos(self._vocabulary) else 0
        self._head, self._tail = frame[:heads], frame[heads:]
        # Tokens of text that fit in a window beside those that open and close it.
        self.room = self.window - len(frame)

    def _open_context(self) -> Any:
        api = self._api
        parameters = api.llama_context_default_params()
        parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = self.window
        parameters.n_seq_max = 1
        parameters.n_threads = parameters.n_threads_batch = 1
        parameters.embeddings = True
        parameters.no_perf = True
        # As `Llama.embed` has it: with flash attention the numbers differ from the third digit on.
        parameters.flash_attn_type = api.LLAMA_FLASH_ATTN_TYPE_DISABLED
        return api.llama_init_from_model(self._model, parameters)

    def _open_batch(self) -> Any:
        batch = self._api.llama_batch_init(self.window, 0, 1)
        for index in range(self.window):
            batch.pos[index] = index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = 1
        return batch

    def tokenize(self, text: str) -> list[int]:
        """Tokens of the text alone, without those that open and close a window."""
        return self._tokenize(text.encode("utf-8", "replace"), special=False)

    def _tokenize(self, data: bytes, *, special: bool) -> list[int]:
        # No tokenizer gives more tokens than bytes; a few more are room for the frame.
        room = len(data) + 8
        buffer = (self._api.llama_token * room)()
        count = self._api.llama_tokenize(self._vocabulary, data, len(data), buffer, room, special, False)  # noqa: FBT003
        if count < 0:
            raise InferenceError(f"The tokenizer asked for {-count} tokens of {len(data)} bytes.")
        return list(buffer[:count])

    def embed(self, tokens: Sequence[int], *, threads: int) -> FloatVector:
        """The pooled vector of one window, as the model gives it: float32 `(dim,)`, not normalised."""
        import numpy as np

        api = self._api
        window = [*self._head, *tokens, *self._tail]
        if threads != self._threads:
            api.llama_set_n_threads(self._context, threads, threads)
            self._threads = threads
        ctypes.memmove(self._batch.token, (api.llama_token * len(window))(*window), 4 * len(window))
        self._batch.n_tokens = len(window)
        if self._memory:
            api.llama_memory_clear(self._memory, True)  # noqa: FBT003 - the library's signature
        code = api.llama_decode(self._context, self._batch)
        pointer = api.llama_get_embeddings_seq(self._context, 0) if code == 0 else None
        if not pointer:
            raise InferenceError(f"llama.cpp gave code {code} for {len(window)} tokens.")
        return np.ctypeslib.as_array(pointer, shape=(self.dim,)).copy()

    def close(self) -> None:
        """Free batch, context and model, in this order."""
        if getattr(self, "_batch", None) is not None:
            self._api.llama_batch_free(self._batch)
        if self._context:
            self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)
        self._batch = self._context = self._model = None


def _silence(api: Any) -> None:
    """Keep llama.cpp's lines in memory instead of on stderr; the last ones explain a failed load."""
    global _log_callback  # noqa: PLW0603 - C keeps the pointer, so the callback must never be collected
    if _log_callback is None:

        @api.llama_log_callback
        def keep(level: int, text: bytes, _data: Any) -> None:
            _last_lines.append(text.decode("utf-8", "replace").strip())

        _log_callback = keep
        api.llama_log_set(keep, ctypes.c_void_p(0))


def _last_error() -> str:
    told = [line for line in _last_lines if "error" in line.lower() or "fail" in line.lower()]
    return told[0] if told else "no reason given"


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelLoadError(f"{path} cannot be read: {error}") from error
    if magic != GGUF_MAGIC:
        raise ModelLoadError(f"{path} is not a GGUF file.")
