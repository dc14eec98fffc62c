"""The words that head our own blocks or that models take as structure. Data only."""

from __future__ import annotations

from typing import Final

# Headers of blocks in a context packet. A test finds every such header written in the code and missing here.
MARKERS: Final[tuple[str, ...]] = (
    "[CRITICAL RULES]",
    "[RUNTIME]",
    "[Agent]",
    "[Steering]",
    "[Learned corrections]",
    "[CRITICAL ERROR — LESSONS FILE TOO LARGE]",
    "[Memory]",
    "[Preferences]",
    "[Projects]",
    "[Recent History]",
    "[Semantic Memory]",
    "[Episodic Memory]",
    "[THREAD CONVERSATION HISTORY]",
    "[Conversation History]",
    "[Channel History]",
    "[Current thread:]",
    "[End of channel context]",
    "[Recent Session Context]",
    "[Other chat tabs]",
    "[Skills]",
    "[Available Skills]",
    "[Relevant skills for this message]",
    "[Project Briefing]",
    "[User Message]",
    "[Left out]",
)
# Headers without brackets.
BARE_MARKERS: Final[tuple[str, ...]] = ("Memory Guidance",)

# Structural tokens of the chat templates of common models; `|` and `_` also come as their look-alikes.
TEMPLATE_TOKENS: Final[tuple[str, ...]] = (
    "im_start",
    "im_end",
    "im_sep",
    "system",
    "user",
    "assistant",
    "tool",
    "observation",
    "endofprompt",
    "endoftext",
    "begin_of_text",
    "end_of_text",
    "start_header_id",
    "end_header_id",
    "eot_id",
    "eom_id",
    "python_tag",
    "start_of_role",
    "end_of_role",
    "start_of_turn",
    "end_of_turn",
    "start",
    "end",
    "message",
    "channel",
    "return",
    "call",
    "sep",
    "fim_prefix",
    "fim_middle",
    "fim_suffix",
    "begin_of_sentence",
    "end_of_sentence",
    "tool_calls_begin",
    "tool_outputs_begin",
)
# The same written without bars, as Gemma, Mistral and Llama 2 do.
TURN_TAGS: Final[tuple[str, ...]] = ("start_of_turn", "end_of_turn")
BRACKET_TOKENS: Final[tuple[str, ...]] = (
    "inst",
    "available_tools",
    "tool_results",
    "tool_calls",
    "system_prompt",
)
ROLES: Final[tuple[str, ...]] = ("system", "developer", "assistant", "human", "user")

# The word in the lines that open and close a fence around foreign text.
FENCE_WORD: Final = "UNTRUSTED"
