"""Numbers of chat: what a socket accepts, how a stream is paced, how long things may take. From spec 5.2,
5.5 and 13.10."""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = 1
MESSAGE_MAX_CHARS: Final = 100_000
FRAME_MAX_BYTES: Final = 1_000_000
CLIENT_KEY_MAX_CHARS: Final = 100  # the column
# What the server sends is held to the same size as what it takes: the server library drops a larger frame
# without a word.
FRAME_TEXT_CHARS: Final = 100_000  # of one delta; even all-emoji text then stays under the frame's bytes
ANSWER_MAX_CHARS: Final = 1_000_000  # four times what the longest-winded models may write at once

CLOSE_TOO_BIG: Final = 4413  # 1009 would say it, but the server library keeps that code to itself
CLOSE_UNAUTHENTICATED: Final = 4401
CLOSE_NOT_FOUND: Final = 4404
CLOSE_BUSY: Final = 4429
CLOSE_TRY_AGAIN: Final = 4500  # something failed here; a new socket finds all of it in the rows

HEARTBEAT_S: Final = 20.0
FOLLOW_EVERY_S: Final = 1.0  # how often a turn of another process is read from its row
# A socket that opens while a turn runs waits this long for the page's `resume`, which names what the page
# already has; after it the turn is sent from its start.
RESUME_GRACE_S: Final = 1.0
SOCKET_QUEUE_EVENTS: Final = 256

COALESCE_S: Final = 0.02
COALESCE_CHARS: Final = 200
SAVE_EVERY_S: Final = 0.8  # "at least every second", with room for the write itself

# The heartbeat of a turn is its saved row. A turn whose row has not moved for this long has lost its process.
STALE_TURN_S: Final = 30.0
STALE_QUEUED_S: Final = 3_600.0  # a turn that waits for its place moves no row

TOOL_TIMEOUT_S: Final = 30.0
PERMISSION_TIMEOUT_S: Final = 60.0
ANSWER_LOOK_EVERY_S: Final = 0.4  # for an answer given to another process: it counts within a second
TOOL_RESULT_MAX_CHARS: Final = 16_000
TOOL_SUMMARY_CHARS: Final = 300  # what a tool card shows
TOOL_ARGUMENTS_MAX_CHARS: Final = 16_000  # kept with the message and sent again as history

# Threads of the web process that read and save rows, build packets and run tools. SQLite takes one writer at
# a time and Python runs one thread at a time, so more would wait for each other and keep the streams waiting;
# a server for the database lets several packets be built while it is waited for. Tools have their own,
# because one of them may sit for its whole 30 s.
DATABASE_THREADS: Final = 2
PACKET_THREADS: Final = {"sqlite": 1, "postgresql": 4}
TOOL_THREADS: Final = 8
CONNECTION_AGE_S: Final = 5.0  # how long such a thread goes on with a connection to a file

# Tools that only read. Every other one counts as a write and is refused where a conversation writes no
# memory.
READING_TOOLS: Final = frozenset(
    {
        "memory_recall",
        "memory_context",
        "learn_list",
        "local_knowledge_search",
        "skill_search",
        "skill_read",
    }
)

# A conversation's own history may fill half of the model's window; a token is taken as three characters,
# which is on the safe side for prose and code.
HISTORY_WINDOW_SHARE: Final = 0.5
CHARS_PER_TOKEN: Final = 3
REFERENCE_WINDOW_TOKENS: Final = 1_000_000

MESSAGES_AT_ONCE: Final = 200  # read newest first, until what fits is full

MEMORY_HITS: Final = 8  # what the answer without a model lists
FORGET_CANDIDATES: Final = 10

TURNS_PER_MINUTE: Final = 30
CONNECTS_PER_MINUTE: Final = 30
MESSAGES_PER_MINUTE: Final = 60

TITLE_TIMEOUT_S: Final = 60.0
TITLE_READ_CHARS: Final = 1_000  # of the question and of the answer each, which tell what it is about

INTERRUPTED: Final = "The server stopped while this was being answered."
