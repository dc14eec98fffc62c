"""The one list of tools, for both transports: the functions of `MCP_TOOLS` with their schemas, and which of
them a caller is shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from crewsite.chat.constants import READING_TOOLS
from crewsite.mcp.constants import DELETING_TOOLS, PROFILES
from crewsite.mcp.schema import Parameters, parameters_of

if TYPE_CHECKING:
    from crewsite.llm.tools import ToolFunction
    from crewsite.mcp.callers import Caller


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    function: ToolFunction
    parameters: Parameters
    reads_only: bool
    deletes: bool

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()


def all_tools() -> dict[str, ToolSpec]:
    return _load(tuple(settings.MCP_TOOLS))


@lru_cache(maxsize=2)
def _load(paths: tuple[str, ...]) -> dict[str, ToolSpec]:
    return {spec.name: spec for spec in map(_spec, paths)}


def _spec(path: str) -> ToolSpec:
    function: ToolFunction = import_string(path)
    name = function.__name__
    return ToolSpec(
        name=name,
        function=function,
        parameters=parameters_of(function),
        reads_only=name in READING_TOOLS,
        deletes=name in DELETING_TOOLS,
    )


def tools_for(caller: Caller) -> dict[str, ToolSpec]:
    """What this caller may call, in the profile they chose."""
    left_out = PROFILES[caller.profile]
    return {
        name: spec
        for name, spec in all_tools().items()
        if name not in left_out and not denied(caller, reads_only=spec.reads_only)
    }


def denied(caller: Caller, *, reads_only: bool) -> str:
    """Why the caller may not do this; empty when they may."""
    if caller.may_read if reads_only else caller.may_write:
        return ""
    needed = "read" if reads_only else "write"
    if caller.token is not None and needed not in caller.token.scopes:
        return f"The token lacks the scope {needed}. Use one that has it."
    return f"This needs the role member in the workspace {caller.workspace.slug!r}."
