"""Limits of calls to a model endpoint. All from spec chapter 05.4 unless said otherwise."""

from __future__ import annotations

from typing import Final

CONNECT_TIMEOUT_S: Final = 10.0
FIRST_TOKEN_TIMEOUT_S: Final = 60.0
TOTAL_TIMEOUT_S: Final = 600.0
# Attempts beyond the first on 429 and 5xx. The OpenAI client waits 0.5 s doubling to 8 s, or as Retry-After
# says up to 60 s; three of them stay inside the 60 s a person waits for a first token.
MAX_RETRIES: Final = 3
BREAKER_FAILURES: Final = 5
BREAKER_OPEN_S: Final = 60.0

# A model that keeps calling tools is stopped after this many answers in one turn: far above what a chat
# needs, far below what a stuck model would burn.
MAX_MODEL_REQUESTS: Final = 25
# Wrong arguments or an unknown tool name: the model is told once and may correct itself once more.
TOOL_RETRIES: Final = 2

OPENAI_BASE_URL: Final = "https://api.openai.com/v1"
ANTHROPIC_BASE_URL: Final = "https://api.anthropic.com"
ANTHROPIC_VERSION: Final = "2023-06-01"  # of its wire format; the only one there is
ANTHROPIC_MAX_TOKENS: Final = (
    8_192  # the endpoint demands a limit; every Claude still served may write this much
)
MEMORY_MODEL: Final = "memory"
ENVIRONMENT: Final = "environment"  # what the connection of CREW_LLM_* is called
ROLES: Final = ("default", "smol", "judge")
PROVIDER_NAMES: Final = frozenset({"openai", "anthropic", "llama", "acp"})
RESERVED_NAMES: Final = frozenset({*ROLES, MEMORY_MODEL, ENVIRONMENT, "auto"})
CONNECT_HINT: Final = (
    "No language model is connected. An operator connects one at /settings/models/, or with CREW_LLM_BASE_URL"
    " and CREW_LLM_MODEL."
)

# A local GGUF file: what is asked of memory for its window grows with it, and a small machine must bear it.
LLAMA_WINDOW_TOKENS: Final = 8_192
LLAMA_MAX_LOADED: Final = 1  # weights kept in memory at once

# An agent process (ACP) is kept for its conversation while people talk, and ended when they stopped.
ACP_START_TIMEOUT_S: Final = 60.0
# It may start, work with tools and ask the person, who has 60 s, before it says a word.
ACP_FIRST_TEXT_TIMEOUT_S: Final = 300.0
ACP_IDLE_S: Final = 600.0
ACP_CHANGE_MAX_CHARS: Final = 4_000  # of the files a call changes, as a card shows them: about a screenful
ACP_LINE_MAX_BYTES: Final = 8 * 1024 * 1024  # of one message; the library's own default is six times that

# Failed turns in a row after which a conversation gets a new client (chapter 05.4).
RESET_AFTER_FAILURES: Final = 5
OWN_CLIENTS_MAX: Final = 32

TRIAL_PROMPT: Final = "Answer with the single word: ready"
TRIAL_TIMEOUT_S: Final = 60.0
