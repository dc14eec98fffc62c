"""A turn while it runs: its text so far, its tool calls, and the pacing of what goes out. Knows no model and
no row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from crewsite.chat.constants import COALESCE_CHARS, COALESCE_S
from crewsite.chat.payloads import Frame, delta_frames, tool_frame
from crewsite.chat.storable import storable_text, storable_value

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

Publish = Callable[[Frame], None]


class LiveTurn:
    """Collects text and sends the first piece at once, then one every 20 ms or 200 characters. Belongs to one
    event loop."""

    def __init__(self, turn_id: UUID, publish: Publish) -> None:
        self.turn_id = turn_id
        self.tools: dict[str, dict[str, Any]] = {}
        self.first_token_at: datetime | None = None
        self._publish = publish
        self._parts: list[str] = []
        self._length = 0
        self._sent = 0
        self._held = ""
        self._pending: list[str] = []
        self._flushed_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    @property
    def text(self) -> str:
        """Everything produced so far."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        return list(self.tools.values())

    def add_text(self, text: str) -> None:
        text, self._held = storable_text(self._held, text)
        if not text:
            return
        if self.first_token_at is None:
            self.first_token_at = timezone.now()
        self._parts.append(text)
        self._pending.append(text)
        self._length += len(text)
        if self._length - self._sent >= COALESCE_CHARS:
            self.flush()
        elif self._timer is None:
            # The first of what comes goes out at once, what follows within 20 ms together.
            loop = asyncio.get_running_loop()
            wait_s = self._flushed_at + COALESCE_S - loop.time()
            if wait_s <= 0:
                self.flush()
            else:
                self._timer = loop.call_later(wait_s, self.flush)

    def add_tool(self, call: dict[str, Any]) -> None:
        """A tool call that started or changed; text before it goes out first. `at` is how much there was when
        it started."""
        self.flush()
        call = storable_value(call)
        call["at"] = self.tools.get(call["id"], {}).get("at", self._length)
        self.tools[call["id"]] = call
        self._publish(tool_frame(self.turn_id, call))

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pending:
            text = "".join(self._pending)
            self._pending.clear()
            for item in delta_frames(self.turn_id, self._sent, text):
                self._publish(item)
            self._sent += len(text)
            self._flushed_at = asyncio.get_running_loop().time()
