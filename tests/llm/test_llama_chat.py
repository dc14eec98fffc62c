"""A real small GGUF chat file: streamed, stopped, counted; here and behind llama-cpp's own server."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from pydantic_ai import Agent

from crewsite.llm.errors import LlmError, explain
from crewsite.llm.llama_chat import unload_all
from crewsite.llm.providers import model_for
from crewsite.llm.targets import Target
from tests.gguf_chat import cached_chat_model

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic_ai.models import Model

pytestmark = pytest.mark.slow
FEW_TOKENS = {"max_tokens": 8}
START_SECONDS = 90


@pytest.fixture(scope="module")
def chat_file() -> Iterator[Path]:
    yield cached_chat_model()
    unload_all()


@pytest.fixture
def model(chat_file: Path) -> Model:
    return model_for(Target("gemma", "gemma", "llama", str(chat_file)))


async def test_the_answer_streams_and_its_tokens_are_counted(model: Model) -> None:
    pieces: list[str] = []
    async with Agent(model, instructions="Be brief.").run_stream(
        "The capital of France is", model_settings=FEW_TOKENS
    ) as result:
        async for piece in result.stream_text(delta=True, debounce_by=None):
            pieces.append(piece)  # noqa: PERF401 - one by one, as they come
        usage = result.usage
    assert len(pieces) > 1
    assert "".join(pieces).strip()
    assert usage.input_tokens > 5
    assert 0 < usage.output_tokens <= 8


async def test_an_answer_without_streaming_works_too(model: Model) -> None:
    assert (await Agent(model).run("Hello", model_settings=FEW_TOKENS)).output.strip()


async def test_a_stop_ends_the_generation(model: Model) -> None:
    async def endless() -> None:
        async with Agent(model).run_stream("Count", model_settings={"max_tokens": 4_000}) as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                heard.set()

    heard = asyncio.Event()
    asking = asyncio.create_task(endless())
    await heard.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    for _ in range(100):
        if not any(thread.name == "llama-chat" for thread in threading.enumerate()):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the worker thread still writes")


async def test_too_long_a_prompt_is_refused_with_a_reason(model: Model) -> None:
    with pytest.raises(LlmError) as raised:
        try:
            await Agent(model).run("word " * 12_000)
        except Exception as error:
            raise explain(error) from error
    assert not raised.value.retryable
    assert "context window" in raised.value.reason


@pytest.mark.skipif(find_spec("fastapi") is None, reason="llama-cpp-python[server] is not installed")
async def test_llama_cpps_own_server_is_an_endpoint_like_any(chat_file: Path) -> None:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["-m", "llama_cpp.server", "--model", str(chat_file), "--port", str(port), "--n_ctx", "1024"]
    server = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    url = f"http://127.0.0.1:{port}/v1"
    try:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                await asyncio.to_thread(urllib.request.urlopen, f"{url}/models")
                break
            except OSError:
                await asyncio.sleep(0.2)
        model = model_for(Target("local", "local", "openai", "gemma", url))
        async with Agent(model).run_stream("The capital of France is", model_settings=FEW_TOKENS) as result:
            assert await result.get_output()
    finally:
        server.terminate()
        server.wait(20)
