"""The terminal chat: reads what a person types or pipes in, shows answers while they are written. Where the
chat runs is the door's business."""

from __future__ import annotations

import asyncio
import json
import select
import sys
from typing import TYPE_CHECKING, Any, Final

from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.chat.payloads import Frame
    from crewsite.chat.terminal.door import ChatDoor, Opened

PROMPT: Final = "> "
LEAVE: Final = frozenset({"/exit", "/quit"})
INTERRUPTED: Final = 130
LOOK_EVERY_S: Final = 0.2


class Session:
    """Answers go to standard output; everything about them to standard error."""

    def __init__(self, door: ChatDoor, *, as_json: bool) -> None:
        self._door = door
        self._as_json = as_json
        self._has_person = sys.stdin.isatty()
        self._opened: Opened

    def open(self, *, conversation: str, mode: str, model: str) -> None:
        self._opened = one = self._door.open(conversation=conversation, mode=mode, model=model)
        title = f"“{one.title}” " if one.title else ""
        self._tell(f"{title}{one.id} · {one.model} · {one.mode} · workspace {one.workspace}")

    def once(self, text: str) -> int:
        """One message; 1 when it was not answered."""
        with asyncio.Runner() as loop:
            return self._take(loop, text)

    def talk(self) -> int:
        """Until the person leaves with Ctrl-D, Ctrl-C or /exit."""
        import readline  # noqa: F401 - lines can be edited and called back

        self._tell("Ctrl-C stops an answer, Ctrl-D leaves, /help lists commands.")
        with asyncio.Runner() as loop:
            while (text := _line()) is not None and text.strip().lower() not in LEAVE:
                if text.strip():
                    self._take(loop, text)
        self._tell(f"Go on with: crew chat --conversation {self._opened.id}")
        return 0

    def _take(self, loop: asyncio.Runner, text: str) -> int:
        text = clean(text)
        if self._door.is_command(text):
            return self._command(text)
        return loop.run(self._answer(text))

    def _command(self, text: str) -> int:
        told = self._door.command(text)
        if opened := told.data.get("conversation"):
            self._opened = self._door.open(conversation=opened, mode="", model="")
        if self._as_json:
            self._print_json(command=text.strip(), ok=told.ok, text=told.text, data=told.data)
        else:
            (sys.stdout if told.ok else sys.stderr).write(f"{told.text}\n")
        sys.stdout.flush()
        return int(not told.ok)

    async def _answer(self, text: str) -> int:
        shown = Answer(self._as_json)
        stopped = False
        try:
            async for item in self._door.ask(text):
                await self._show(shown, item)
        except asyncio.CancelledError:
            # Ctrl-C: the answer ends, the conversation does not.
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            stopped = True
            if (closed := await self._door.stop()) is not None:
                shown.take(closed)
        shown.end()
        if stopped:
            self._tell("Stopped.")
        if shown.failed:
            self._tell(f"No answer: {shown.failed}")
        if self._as_json:
            self._print_json(message=text, **shown.as_json())
        return INTERRUPTED if stopped else int(bool(shown.failed))

    async def _show(self, shown: Answer, item: Frame) -> None:
        shown.take(item)
        if item["type"] != "tool":
            return
        about = f"[{item['name']}] {item['args']}".strip()
        if item["state"] == "asking":
            await self._ask_person(item, about)
        elif item["state"] != "running":
            self._tell(f"{about}: {item['state']}")

    async def _ask_person(self, item: Frame, about: str) -> None:
        """Without a person at a terminal the answer is no."""
        choices = item["choices"]
        refusal = next((choice["id"] for choice in choices if not choice["allows"]), "")
        if not self._has_person:
            self._tell(f"{about}: nobody is here to allow it")
            await self._door.answer(item, refusal)
            return
        listed = ", ".join(f"{place} {choice['label']}" for place, choice in enumerate(choices, start=1))
        self._tell(f"{about}\n  May it? {listed}:")
        typed = await _typed()
        chosen = (
            choices[int(typed) - 1]["id"] if typed.isdigit() and 0 < int(typed) <= len(choices) else refusal
        )
        await self._door.answer(item, chosen)

    def _print_json(self, **fields: Any) -> None:
        line = {"conversation": self._opened.id, **fields}
        sys.stdout.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
        sys.stdout.flush()

    def _tell(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Answer:
    """One answer as it comes: each character once, whatever is sent twice."""

    def __init__(self, as_json: bool) -> None:  # noqa: FBT001 - how it is shown, decided once
        self._is_silent = as_json
        self.text = ""
        self.failed = ""
        self.finish_reason = ""
        self.model = ""
        self.injected: list[Any] = []
        self.tools: dict[str, Any] = {}

    def take(self, item: Frame) -> None:
        match item["type"]:
            case "turn.started":
                self.model = item["model"]
            case "delta":
                self._add(item["offset"], item["text"])
            case "tool":
                self.tools[item["id"]] = {name: item[name] for name in ("name", "state", "args", "result")}
            case "turn.done" | "turn.failed":
                self._close(item)

    def end(self) -> None:
        if not self._is_silent and self.text and not self.text.endswith("\n"):
            sys.stdout.write("\n")
        sys.stdout.flush()

    def as_json(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("model", "finish_reason", "injected")}
        return {"answer": self.text, "error": self.failed, **told, "tools": list(self.tools.values())}

    def _close(self, item: Frame) -> None:
        message = item["message"] or {}
        self._add(0, message.get("content", ""))
        self.finish_reason = message.get("finish_reason", "")
        self.injected = item.get("injected", [])
        if item["type"] == "turn.failed":
            self.failed = item["reason"]

    def _add(self, offset: int, text: str) -> None:
        fresh = text[max(0, len(self.text) - offset) :]
        self.text += fresh
        if not self._is_silent and fresh:
            sys.stdout.write(fresh)
            sys.stdout.flush()


def _line() -> str | None:
    """What the person types; None when they leave."""
    try:
        return input(PROMPT)
    except (EOFError, KeyboardInterrupt):
        sys.stderr.write("\n")
        return None


async def _typed() -> str:
    """A line, read so that the wait can be given up: a thread blocked in a read would eat the next one."""
    while not select.select([sys.stdin], [], [], 0)[0]:
        await asyncio.sleep(LOOK_EVERY_S)
    return sys.stdin.readline().strip()
