"""What a model must answer in a pass. The caps here are the ones the prompts tell. Lists that are too long
and entries of the wrong shape are asked for again; whether an entry is worth storing is decided later."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model, field_validator

from memory.consolidation.constants import ENTRIES_MAX, EPISODES_MAX, FACTS_MAX
from memory.consolidation.extensions import extensions_for
from memory.consolidation.placeholders import is_placeholder
from memory.constants import DEFAULT_IMPORTANCE, HISTORY_TITLE_MAX_CHARS
from memory.models import ConsolidationReceipt


class FactOut(BaseModel):
    key: str = Field(description="Lower case with dots, such as pref.editor.")
    value: str | bool | int | float | list[str]
    confidence: Annotated[float, Field(ge=0, le=1)]


class ContradictedOut(BaseModel):
    line: str = Field(description="The line a person wrote, as it stands.")
    quote: str = Field(description="The sentence of the transcript that contradicts it, word for word.")


class PreferencesPass(BaseModel):
    """Both documents as they shall read from now on, and the facts worth keeping."""

    preferences: str
    projects: str
    contradicted: list[ContradictedOut] = Field(default_factory=list, max_length=FACTS_MAX)
    facts: list[FactOut] = Field(max_length=FACTS_MAX)


class EntryOut(BaseModel):
    title: str = Field(max_length=HISTORY_TITLE_MAX_CHARS)
    text: str
    message: int | None = Field(default=None, description="Number of the message it ended with.")

    @field_validator("title", "text")
    @classmethod
    def says_something(cls, value: str) -> str:
        """A diary entry is asked for again, since without it the stretch would be lost to history."""
        if is_placeholder(value):
            raise ValueError("is empty or a placeholder; write what happened, or leave the entry out")
        return value


class EpisodeOut(BaseModel):
    text: str
    importance: Annotated[float, Field(ge=0, le=1)] = DEFAULT_IMPORTANCE
    tags: list[str] = Field(default_factory=list)
    message: int | None = Field(default=None, description="Number of the message it comes from.")


class HistoryPass(BaseModel):
    """What happened in the conversation; empty lists when nothing did."""

    entries: list[EntryOut] = Field(max_length=ENTRIES_MAX)
    episodes: list[EpisodeOut] = Field(max_length=EPISODES_MAX)


def schema_for(path: str) -> type[BaseModel]:
    """The schema of a path, with one list for each extension that takes part in it."""
    base = PreferencesPass if path == ConsolidationReceipt.Path.PREFERENCES else HistoryPass
    fields = {
        extension.name: (
            list[extension.item],  # type: ignore[name-defined]
            Field(max_length=extension.max_items),
        )
        for extension in extensions_for(path)
    }
    if not fields:
        return base
    build: Any = create_model
    extended: type[BaseModel] = build(base.__name__, __base__=base, __doc__=base.__doc__, **fields)
    return extended
