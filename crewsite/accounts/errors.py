"""What accounts refuse, in the domain's words. Each door translates them in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crewsite.accounts.models import Role


class AccountsError(Exception):
    """Base of all refusals of this app; the text is meant for people."""


class WorkspaceNotFound(AccountsError):
    """No such workspace, or none this person may see: the two look the same."""

    def __init__(self, slug: str = "") -> None:
        super().__init__(
            f"There is no workspace {slug!r}." if slug else "You are not a member of any workspace."
        )


class RoleTooLow(AccountsError):
    """A member whose role does not reach this far."""

    def __init__(self, slug: str, needed: Role) -> None:
        super().__init__(f"This needs the role {needed.value} in the workspace {slug!r}.")


class SharingNeedsDecision(AccountsError):
    """A membership would open a memory home to somebody who does not belong to it (409)."""


class TokenRefused(AccountsError):
    """A token that may not be made this way."""
