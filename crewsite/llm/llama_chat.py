"""A GGUF chat file of this machine, spoken to like an endpoint: a transport that answers
`/chat/completions` by llama-cpp-python in a worker thread. So prompts, tools and streams are mapped as for
every other endpoint."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx2

from crewsite.embeddings.cores import core_count
from crewsite.llm.constants import LLAMA_MAX_LOADED, LLAMA_WINDOW_TOKENS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

logger = logging.getLogger(__name__)

GGUF_MAGIC: Final = b"GGUF"
# What of a request the library takes; the rest, such as the model's name, means nothing to one file.
_PASSED_ON: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "stop",
    "seed",
    "tools",
    "tool_choice",
    "logit_bias",
)
_RENAMED: Final = {"max_completion_tokens": "max_tokens"}


class _Loaded:
    """Weights and context in memory. One answer at a time: a context has one state."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lock = threading.Lock()
        self._model: Any = None

    def model(self) -> Any:
        """Under the lock. Loading takes seconds and happens once. Raises ValueError for what is no such
        file."""
        if self._model is None:
            from llama_cpp import Llama

            _check(self.path)
            self._model = Llama(
                self.path,
                n_ctx=LLAMA_WINDOW_TOKENS,
                n_threads=core_count(),
                n_threads_batch=core_count(),
                verbose=False,
            )
        return self._model

    def close(self) -> None:
        with self.lock:
            if self._model is not None:
                self._model.close()
                self._model = None


_loaded: OrderedDict[str, _Loaded] = OrderedDict()
_registry = threading.Lock()


def llama_client(path: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=_LlamaTransport(path))


def unload_all() -> None:
    with _registry:
        models = list(_loaded.values())
        _loaded.clear()
    for model in models:
        model.close()


def _loaded_for(path: str) -> _Loaded:
    with _registry:
        found = _loaded.setdefault(path, _Loaded(path))
        _loaded.move_to_end(path)
        surplus = [_loaded.popitem(last=False)[1] for _ in range(len(_loaded) - LLAMA_MAX_LOADED)]
    for old in surplus:
        old.close()
    return found


def _check(path: str) -> None:
    file = Path(path).expanduser()
    if not file.is_file():
        raise ValueError(f"There is no file {file.name} to load.")
    with file.open("rb") as opened:
        if opened.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ValueError(f"{file.name} is no GGUF file.")


class _LlamaTransport(httpx2.AsyncBaseTransport):
    def __init__(self, path: str) -> None:
        self.path = str(Path(path).expanduser())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        work = _Generation(self.path, body, asyncio.get_running_loop())
        work.start()
        try:
            first = await work.next()
        except BaseException:
            work.stop()
            raise
        if isinstance(first, str):
            return httpx2.Response(400, json={"error": {"message": first, "type": "invalid_request_error"}})
        if not body.get("stream"):
            return httpx2.Response(200, json=first)
        return httpx2.Response(
            200, headers={"Content-Type": "text/event-stream"}, stream=_Events(work, first or {})
        )


class _Events(httpx2.AsyncByteStream):
    """The chunks as server-sent events. Closing it, as a stop does, ends the generation at its next token."""

    def __init__(self, work: _Generation, first: dict[str, Any]) -> None:
        self.work = work
        self.first = first

    async def __aiter__(self) -> AsyncIterator[bytes]:
        item: dict[str, Any] | str | None = self.first
        while item is not None:
            event = {"error": {"message": item}} if isinstance(item, str) else item
            yield f"data: {json.dumps(event)}\n\n".encode()
            item = await self.work.next()
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        self.work.stop()


class _Generation(threading.Thread):
    """One answer. `next` gives its chunks (or the one whole completion), a text if it failed, None at the
    end."""

    def __init__(self, path: str, body: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(name="llama-chat", daemon=True)
        self.path = path
        self.body = body
        self._loop = loop
        self._items: asyncio.Queue[dict[str, Any] | str | None] = asyncio.Queue()
        self._stopped = threading.Event()

    async def next(self) -> dict[str, Any] | str | None:
        return await self._items.get()

    def stop(self) -> None:
        self._stopped.set()

    def run(self) -> None:
        loaded = _loaded_for(self.path)
        try:
            with loaded.lock:
                if not self._stopped.is_set():
                    self._generate(loaded.model())
        except Exception as error:
            logger.info("The file %s gave no answer: %s", Path(self.path).name, error)
            self._put(str(error) or type(error).__name__)
        self._put(None)

    def _generate(self, model: Any) -> None:
        asked = {_RENAMED.get(name, name): value for name, value in self.body.items()}
        options = {name: asked[name] for name in _PASSED_ON if asked.get(name) is not None}
        is_stream = bool(self.body.get("stream"))
        if not is_stream:
            from llama_cpp import LogitsProcessorList

            options["logits_processor"] = LogitsProcessorList([self._check_stopped])
        answer = model.create_chat_completion(messages=self.body["messages"], stream=is_stream, **options)
        if not is_stream:
            self._put(answer)
            return
        count, head = 0, {}
        for chunk in answer:
            if self._stopped.is_set():
                answer.close()
                return
            head = {name: chunk[name] for name in ("id", "created", "model", "object")}
            count += bool(chunk["choices"][0]["delta"].get("content"))
            self._put(chunk)
        total = int(model.n_tokens)
        usage = {"prompt_tokens": max(0, total - count), "completion_tokens": count, "total_tokens": total}
        self._put({**head, "choices": [], "usage": usage})

    def _check_stopped(self, _tokens: Any, scores: Any) -> Any:
        """Between two tokens of an answer that is not streamed there is no other place to stop at."""
        if self._stopped.is_set():
            raise InterruptedError("The answer was stopped.")
        return scores

    def _put(self, item: dict[str, Any] | str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._items.put_nowait, item)
