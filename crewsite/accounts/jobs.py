"""Whose jobs a person sees, and on which of them they may act (chapter 13, 13.9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crewsite.accounts.models import Role
from crewsite.accounts.selectors import workspaces_for
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from crewsite.accounts.models import ApiToken, User
    from crewsite.jobs.models import JobQuerySet


def jobs_for(user: User, *, token: ApiToken | None = None) -> JobQuerySet:
    """Everything for an operator; for others what works for their workspaces. A token bound to a workspace
    narrows both.
    """
    if _is_operator(user, token):
        return Job.objects.all()
    return Job.objects.filter(workspace_id__in=workspaces_for(user, token=token).values("pk"))


@dataclass(frozen=True, slots=True)
class JobRights:
    """On which jobs one person may act: on all, or on those of these workspaces."""

    is_operator: bool
    owned: frozenset[int]

    def may_act(self, job: Job) -> bool:
        return self.is_operator or job.workspace_id in self.owned


def job_rights(user: User, *, token: ApiToken | None = None) -> JobRights:
    """Cancelling stops work that serves all members, so it takes an owner or an operator, and a token that
    writes.
    """
    if token is not None and "write" not in token.scopes:
        return JobRights(is_operator=False, owned=frozenset())
    if _is_operator(user, token):
        return JobRights(is_operator=True, owned=frozenset())
    owned = workspaces_for(user, token=token, at_least=Role.OWNER).values_list("pk", flat=True)
    return JobRights(is_operator=False, owned=frozenset(owned))


def _is_operator(user: User, token: ApiToken | None) -> bool:
    return user.is_active and user.is_superuser and (token is None or token.workspace_id is None)
