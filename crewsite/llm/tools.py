"""What a tool offered to a model is: a plain function of a `ToolContext` and its parameters that returns a
`ToolResult`. Chat and MCP wrap the same functions; the functions themselves live with the app that owns the
idea."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from crewsite.security.origin import Surface

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class ToolContext:
    """On whose behalf a tool runs. The rows are typed loosely because their apps stand above this package.

    `workspace` is an `accounts.Workspace`, `user` an `accounts.User`, `conversation` a
    `conversations.Conversation` or None where there is none (MCP).
    """

    workspace: Any
    user: Any
    conversation: Any = None
    surface: Surface = Surface.WEB
    turn_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`text` is what the model reads; `data` is what pages and integrations get (ids, outcome). JSON-able."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)


# First parameter: the context. The rest become the tool's JSON schema; the docstring is the description the
# model reads.
ToolFunction = Callable[..., ToolResult]
