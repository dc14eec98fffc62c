"""On whose behalf a request runs, and what they may do: the token's scopes and the person's present role,
looked up again for each request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.accounts.models import Role
from crewsite.accounts.selectors import workspace_resolve, workspaces_for
from crewsite.llm.tools import ToolContext
from crewsite.mcp.constants import CLIENT_MAX_CHARS, DEFAULT_PROFILE
from crewsite.security.origin import Surface
from crewsite.security.text import clean

if TYPE_CHECKING:
    from crewsite.accounts.models import ApiToken, User, Workspace


@dataclass(frozen=True, slots=True)
class Caller:
    """`may_read` and `may_write` join the token's scopes with the role in this workspace."""

    user: User
    workspace: Workspace
    transport: str
    may_read: bool = True
    may_write: bool = True
    token: ApiToken | None = None
    profile: str = DEFAULT_PROFILE
    client: str = ""

    @property
    def context(self) -> ToolContext:
        return ToolContext(workspace=self.workspace, user=self.user, surface=Surface.MCP)


def caller_resolve(
    *,
    user: User,
    transport: str,
    token: ApiToken | None = None,
    slug: str = "",
    profile: str = DEFAULT_PROFILE,
    client: str = "",
) -> Caller:
    """Raises WorkspaceNotFound for a stranger, and for a workspace that is not theirs."""
    workspace = workspace_resolve(user, token=token, slug=slug)
    is_member = workspaces_for(user, token=token, at_least=Role.MEMBER).filter(pk=workspace.pk).exists()
    scopes = ("read", "write") if token is None else token.scopes
    return Caller(
        user=user,
        workspace=workspace,
        transport=transport,
        may_read="read" in scopes,
        may_write="write" in scopes and is_member,
        token=token,
        profile=profile,
        client=client_label(client),
    )


def client_label(text: str) -> str:
    """What a program calls itself, as one short line."""
    return " ".join(clean(text).split())[:CLIENT_MAX_CHARS]
