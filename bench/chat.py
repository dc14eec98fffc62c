"""100 answers streaming at once through a real site, beside a direct client of the same scripted model: what
the site adds to each delta, whether a character is lost or out of order, how its memory grows, and what
sockets that are dropped and come back are told."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.report import Report

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from tests.llm_server import LlmServer
    from tests.site import Seat, Site

STREAMS: Final = 100
DROPPED: Final = 20
WORDS: Final = 400  # so many that all answers stream at once, however long it takes them all to begin
PACE_S: Final = 0.05  # between two words of one answer: about what a large model writes
SEND: Final = {"v": 1, "type": "send", "text": "go"}
ROUNDS: Final = 3  # the first warms up; memory is compared between the others
ANSWER_WAIT_S: Final = 300.0
# Every word carries when the model sent it, so that its way is measured on one clock.
STAMP: Final = re.compile(r"<(\d+)>")


@dataclass
class Heard:
    """What one client got: the text, the milliseconds each word was under way, and the seconds that it waited
    for the first."""

    text: str = ""
    delays_ms: list[float] = field(default_factory=list)
    resumed: int = 0
    asked_at: float = field(default_factory=time.monotonic)
    first_s: float = 0.0
    stamped: int = 0  # characters up to the end of the last whole stamp

    def add(self, text: str) -> None:
        """A piece that arrived just now. A word cut in two counts when its stamp is whole."""
        now = time.monotonic_ns()
        self.first_s = self.first_s or time.monotonic() - self.asked_at
        self.text += text
        for found in STAMP.finditer(self.text, self.stamped):
            self.delays_ms.append((now - int(found[1])) / 1e6)
            self.stamped = found.end()

    @property
    def is_whole(self) -> bool:
        return re.findall(r"w(\d+)<", self.text) == [str(number) for number in range(WORDS)]


def run(options: argparse.Namespace) -> Report:
    """`--rows` is for other benchmarks; CREW_BENCH_STREAMS runs fewer streams than the bar's 100."""
    streams = int(os.environ.get("CREW_BENCH_STREAMS", STREAMS))
    with site_and_model(streams) as (site, server, seats):
        direct = asyncio.run(direct_streams(server, streams))
        memory: list[int] = []
        heard: list[Heard] = []
        for number in range(ROUNDS):
            drop = DROPPED * streams // STREAMS if number else 0
            heard = asyncio.run(through_site(site, seats, drop=drop, seed=number))
            memory.append(resident_kib(site))
    own, added = percentile(direct, 0.95), percentile(heard, 0.95)
    lost = sum(not one.is_whole for one in [*direct, *heard])
    return Report(
        "chat",
        {
            "streams": float(streams),
            "direct_p50_ms": percentile(direct, 0.5),
            "direct_p95_ms": own,
            "site_p50_ms": percentile(heard, 0.5),
            "site_p95_ms": added,
            "added_p95_ms": added - own,
            "first_word_p50_s": sorted(one.first_s for one in heard)[len(heard) // 2],
            "first_word_last_s": max(one.first_s for one in heard),
            "broken_streams": float(lost),
            "resumed_sockets": float(sum(one.resumed for one in heard)),
            "memory_mib": memory[-1] / 1024,
            "memory_growth_percent": 100.0 * (memory[-1] - memory[1]) / memory[1],
        },
        {"added_p95_ms": ("<=", 50), "broken_streams": ("<=", 0), "memory_growth_percent": ("<=", 5)},
    )


@contextlib.contextmanager
def site_and_model(streams: int) -> Iterator[tuple[Site, LlmServer, list[Seat]]]:
    """A model in a process of its own, as it would be, and a site of its own."""
    from tests.site import free_port, make_seats, running_site

    port = free_port()
    model = subprocess.Popen([sys.executable, "-m", "bench.chat", str(port)])
    url = f"http://127.0.0.1:{port}/v1"
    try:
        home = Path(os.environ["CREW_HOME"]) / "site"
        home.mkdir()
        # Every stream ends with its answer; titles are asked of nobody.
        given = {"CREW_LLM_BASE_URL": url, "CREW_LLM_MODEL": "stamped", "CREW_LOG_LEVEL": "ERROR"}
        with running_site(home, **given) as site:
            yield site, url, make_seats(site, streams)  # type: ignore[misc]
    finally:
        model.terminate()
        model.wait()


async def all_of(streams: Any) -> list[Heard]:
    return list(await asyncio.gather(*streams))


async def direct_streams(url: Any, streams: int) -> list[Heard]:
    """The provider's own client, without the site."""
    import openai

    async with openai.AsyncOpenAI(base_url=url, api_key="any", timeout=ANSWER_WAIT_S) as client:
        return await all_of(direct_stream(client) for _ in range(streams))


async def direct_stream(client: Any) -> Heard:
    heard = Heard()
    said = [{"role": "user", "content": "go"}]
    stream: Any = await client.chat.completions.create(model="stamped", messages=said, stream=True)
    async for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            heard.add(chunk.choices[0].delta.content)
    return heard


async def through_site(site: Site, seats: list[Seat], *, drop: int, seed: int) -> list[Heard]:
    """All seats ask at once; so many of their sockets are cut at a random word and come back."""
    rng = random.Random(seed)
    dropped = set(rng.sample(range(len(seats)), drop))
    at = {number: rng.randrange(5, WORDS - 10) for number in dropped}
    return await all_of(site_stream(site, seat, drop_after=at.get(n)) for n, seat in enumerate(seats))


async def site_stream(site: Site, seat: Seat, *, drop_after: int | None) -> Heard:
    heard = Heard()
    turn = ""
    async with asyncio.timeout(ANSWER_WAIT_S):
        async with socket_of(site, seat) as socket:
            await socket.send(json.dumps(SEND | {"client_key": os.urandom(8).hex()}))
            async for frame in frames(socket):
                turn = frame.get("turn") or turn
                if take(heard, frame):
                    return heard
                if drop_after is not None and len(heard.delays_ms) >= drop_after:
                    break
        heard.resumed += 1
        async with socket_of(site, seat) as socket:
            resume = {"v": 1, "type": "resume", "after_seq": 10**6, "turn": turn, "offset": len(heard.text)}
            await socket.send(json.dumps(resume))
            async for frame in frames(socket):
                if take(heard, frame):
                    return heard
    raise SystemExit("A socket was closed before its answer ended.")


def take(heard: Heard, frame: dict[str, Any]) -> bool:
    """True at the end of the answer, whose kept text must be what was streamed."""
    if frame["type"] == "turn.failed":
        raise SystemExit(f"An answer failed: {frame['reason']}")
    if frame["type"] == "turn.done":
        whole = frame["message"]["content"]
        # A socket that comes back after the end is told all that was missing with it.
        heard.text = whole if whole == heard.text or (heard.resumed and whole.startswith(heard.text)) else ""
        return True
    if frame["type"] == "delta":
        # A socket that comes back is first told the running answer from its start; offsets say what is known.
        known = len(heard.text) - frame["offset"]
        if known < 0:
            heard.text, heard.stamped = "", 0
        heard.add(frame["text"][max(known, 0) :])
    return False


def socket_of(site: Site, seat: Seat) -> Any:
    import websockets

    headers = {"Authorization": f"Bearer {seat.token}"}
    return websockets.connect(
        site.socket_url(seat.conversation), additional_headers=headers, open_timeout=ANSWER_WAIT_S
    )


async def frames(socket: Any) -> AsyncIterator[dict[str, Any]]:
    async for text in socket:
        yield json.loads(text)


def percentile(heard: list[Heard], share: float) -> float:
    delays = sorted(delay for one in heard for delay in one.delays_ms)
    return delays[min(len(delays) - 1, int(share * len(delays)))]


def resident_kib(site: Site) -> int:
    assert site.process is not None
    status = Path(f"/proc/{site.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0])


def serve(port: int) -> None:
    """The scripted model: each word says when it was sent."""
    from tests.llm_server import LlmServer, Reply

    class Stamped(LlmServer):
        def reply_for(self, body: dict[str, Any]) -> Reply:
            self.requests.clear()
            return Reply(chunks=StampedWords(), delay_s=PACE_S)

    with Stamped(port):
        time.sleep(24 * 3600)


class StampedWords(list[str]):
    """The words of one answer, each made as it is sent."""

    def __iter__(self) -> Iterator[str]:
        return (f"w{number}<{time.monotonic_ns()}> " for number in range(WORDS))

    def __len__(self) -> int:
        return WORDS


if __name__ == "__main__":
    serve(int(sys.argv[1]))
