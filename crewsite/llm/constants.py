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
MEMORY_MODEL: Final = "memory"
ROLES: Final = ("default", "smol", "judge")
CONNECT_HINT: Final = (
    "No language model is connected: set CREW_LLM_BASE_URL, CREW_LLM_MODEL and, if the endpoint needs one, "
    "CREW_LLM_API_KEY, then restart."
)
