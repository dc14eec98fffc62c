"""Numbers and names of the MCP door. From chapters 06 (6.4) and 13 (13.10)."""

from __future__ import annotations

from typing import Final

SERVER_NAME: Final = "crewsite"
HTTP_PATH: Final = "/mcp"
INSTRUCTIONS: Final = (
    "Crewsite is the long-term memory of the person you work for. Call memory_context once before you start"
    " a task, and memory_recall when something from earlier may matter. When you are corrected, keep the rule"
    " with learn_add; keep facts and events with memory_remember. Never store passwords or keys."
)

# Which tools a profile leaves out. `chat` is for chat programs, which hand over no transcripts.
PROFILES: Final[dict[str, frozenset[str]]] = {
    "all": frozenset(),
    "coding": frozenset(),
    "chat": frozenset({"conversation_log"}),
}
DEFAULT_PROFILE: Final = "all"
# What a client may warn about before it runs them.
DELETING_TOOLS: Final = frozenset({"learn_remove"})

CALLS_PER_MINUTE: Final = 240  # 13.10, a token
RETRY_AFTER_S: Final = 60  # the window of the limit

# What a tool answers when it did not do what it was asked; the client sees a tool error.
ERROR_OUTCOMES: Final = frozenset({"refused", "forbidden", "not_found"})

CALLS_KEEP_DAYS: Final = 30  # the usage ledger of chapter 04, 4.4
CALLS_KEEP_ROWS: Final = 100_000  # a token at its limit makes 345,600 a day
CLIENT_MAX_CHARS: Final = 100  # the column
NOTE_MAX_CHARS: Final = 200  # the column

# A first question to a process that just started would be compared by words alone.
EMBEDDER_WAIT_S: Final = 5.0

LIGHT_POLL_S: Final = 2  # while a person waits for their agent's first call
LATELY_SHOWN: Final = 8
