"""Live settings: what operators change while the site runs, edited in admin (django-constance). Each entry is
(default, help text, type)."""

from __future__ import annotations

from typing import Any, Final

CONSTANCE_CONFIG: Final[dict[str, tuple[Any, ...]]] = {
    "HISTORY_MAX_DAYS": (
        365,
        "History entries of this age in days, and older, are deleted by the daily prune.",
        int,
    ),
    "HISTORY_IDLE_HOURS": (
        3.0,
        "Hours without a message after which a conversation becomes history, episodes and lessons.",
        float,
    ),
    "CONSOLIDATION_PREFERENCES_MODEL": (
        "default",
        "Who brings preferences, projects and facts up to date: default, smol, judge, or a model's name.",
        str,
    ),
    "CONSOLIDATION_HISTORY_MODEL": (
        "default",
        "Who writes history, episodes and implicit lessons: default, smol, judge, or a model's name.",
        str,
    ),
    "EPISODIC_MAX_ROWS": (
        10_000,
        "Live episodes a memory home may hold. Over it, the least important and oldest are tombstoned.",
        int,
    ),
    "EPISODIC_DECAY_BY_TAG": (
        "",
        (
            "How fast episodes with a tag fade, a day, where it is not 0.03, for example:"
            " incident=0.01, standup=0.1. Of several tags the slowest counts."
        ),
        str,
    ),
    "SEMANTIC_EXTRA_PREFIXES": (
        "",
        "Further key prefixes for facts, separated by commas, for example: team.,infra.",
        str,
    ),
    "EMBED_MODEL_URL": (
        "",
        "https address the full embedding model is downloaded from, such as a mirror. Empty: its makers'.",
        str,
    ),
    "CHAT_MAX_RUNNING_TURNS": (
        4,
        "Turns of one person that may run at once; further ones wait in order.",
        int,
    ),
    "CHAT_TOOLS_APPROVED": (
        "learn_*,memory_*,local_knowledge_search,skill_*",
        (
            "Tools a model may call in a chat without asking, separated by commas, * for any characters."
            " Others ask the person, who has 60 s."
        ),
        str,
    ),
    "CHAT_TOOLS_DENIED": (
        "",
        "Tools no model may call in a chat, written the same way. Stronger than the approved ones.",
        str,
    ),
    "MODEL_WINDOWS": (
        "",
        (
            "Windows of models by name, in tokens, separated by commas, for example: qwen3:8b=40960."
            " Others: built-in list."
        ),
        str,
    ),
    "THREAD_SHORTENING": (
        True,
        (
            "Of a long thread that a model has no record of, keep the first and last messages whole and the"
            " first words of those between. Off: the oldest messages are left out."
        ),
        bool,
    ),
    "LLM_DEFAULT_MODEL": (
        "",
        "The model that answers: a connection, or connection:model. Empty: the environment's or the first.",
        str,
    ),
    "API_READS_PER_MINUTE": (600, "Requests a minute that read, for each API token or session.", int),
    "API_WRITES_PER_MINUTE": (120, "Requests a minute that write, for each API token or session.", int),
    "API_ANONYMOUS_PER_MINUTE": (30, "Requests a minute without a token, for each address.", int),
    "LLM_SMOL_MODEL": (
        "",
        "The model for small jobs such as titles, written the same way. Empty: the default model.",
        str,
    ),
    "LLM_JUDGE_MODEL": (
        "",
        "The model that judges quality, written the same way. Empty: the default model.",
        str,
    ),
}

# Where nothing would mean that everything goes, or that nobody comes in.
LEAST_ONE: Final = frozenset(
    {
        "HISTORY_MAX_DAYS",
        "EPISODIC_MAX_ROWS",
        "CHAT_MAX_RUNNING_TURNS",
        "API_READS_PER_MINUTE",
        "API_WRITES_PER_MINUTE",
        "API_ANONYMOUS_PER_MINUTE",
    }
)
# Lists whose reader leaves out what it cannot read: dotted paths of the readers.
LISTS_READ_BY: Final[dict[str, str]] = {
    "EPISODIC_DECAY_BY_TAG": "memory.live.parse_rates",
    "SEMANTIC_EXTRA_PREFIXES": "memory.rules.parse_prefixes",
    "MODEL_WINDOWS": "memory.context.windows.parse_windows",
}
# Names of models: dotted path of what finds one.
MODELS_FOUND_BY: Final = "crewsite.llm.targets.target_of"
# What admin calls them; their names are those of `crew config` and the API.
CONSTANCE_LABELS: Final[dict[str, str]] = {
    "HISTORY_MAX_DAYS": "Days that history is kept",
    "HISTORY_IDLE_HOURS": "Hours of rest before a conversation is distilled",
    "CONSOLIDATION_PREFERENCES_MODEL": "Model that distils preferences, projects and facts",
    "CONSOLIDATION_HISTORY_MODEL": "Model that distils history and episodes",
    "EPISODIC_MAX_ROWS": "Episodes a memory home may hold",
    "EPISODIC_DECAY_BY_TAG": "How fast episodes fade, by tag",
    "SEMANTIC_EXTRA_PREFIXES": "Further key prefixes for facts",
    "EMBED_MODEL_URL": "Address of the full embedding model",
    "CHAT_MAX_RUNNING_TURNS": "Turns of one person at once",
    "CHAT_TOOLS_APPROVED": "Tools that run without asking",
    "CHAT_TOOLS_DENIED": "Tools that never run",
    "MODEL_WINDOWS": "Windows of models, in tokens",
    "THREAD_SHORTENING": "Shorten long threads rather than cut them",
    "LLM_DEFAULT_MODEL": "Model that answers",
    "API_READS_PER_MINUTE": "Reads a minute with a token",
    "API_WRITES_PER_MINUTE": "Writes a minute with a token",
    "API_ANONYMOUS_PER_MINUTE": "Requests a minute without a token",
    "LLM_SMOL_MODEL": "Model for small jobs",
    "LLM_JUDGE_MODEL": "Model that judges",
}
