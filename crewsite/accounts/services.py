"""Writes on people, memberships, tokens and login links. Who may see what is decided elsewhere."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from crewsite.accounts.constants import (
    EXPIRED_KEEP_DAYS,
    LOGIN_LINK_BYTES,
    LOGIN_LINK_MINUTES,
    OWNER_NAME,
    SCOPES,
    TOKEN_DAYS_DEFAULT,
    TOKEN_DAYS_MAX,
    TOKEN_NAME_MAX_CHARS,
)
from crewsite.accounts.errors import SharingNeedsDecision, TokenRefused
from crewsite.accounts.models import DEFAULT_SLUG, ApiToken, LoginLink, Membership, Role, User, Workspace
from crewsite.accounts.selectors import sharing_problem

if TYPE_CHECKING:
    from django.db.models import QuerySet

logger = logging.getLogger(__name__)


def default_workspace() -> Workspace:
    """The workspace that always exists: migrations make it, this mends a database that lost it."""
    return Workspace.objects.get_or_create(slug=DEFAULT_SLUG, defaults={"name": "Default"})[0]


def owner_ensure() -> User:
    """The operator of this site: the first active superuser, made without a password if there is none.

    They own the default workspace. Nobody who exists already is promoted: a taken name gets a number.
    """
    with transaction.atomic():
        owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
        if owner is None:
            owner = User(username=_free_name(), is_staff=True, is_superuser=True)
            owner.set_unusable_password()
            owner.save()
        Membership.objects.get_or_create(
            user=owner, workspace=default_workspace(), defaults={"role": Role.OWNER}
        )
    return owner


def _free_name() -> str:
    taken = set(User.objects.filter(username__startswith=OWNER_NAME).values_list("username", flat=True))
    names = (OWNER_NAME, *(f"{OWNER_NAME}{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def login_link_create(user: User, *, now: datetime | None = None) -> str:
    """A one-time login token; only its hash is kept. The caller shows it on a terminal and nowhere else."""
    plaintext = secrets.token_urlsafe(LOGIN_LINK_BYTES)
    expires_at = (now or timezone.now()) + timedelta(minutes=LOGIN_LINK_MINUTES)
    LoginLink.objects.create(user=user, token_hash=_link_hash(plaintext), expires_at=expires_at)
    return plaintext


def login_link_is_valid(plaintext: str, *, now: datetime | None = None) -> bool:
    """Whether using it now would work. Does not use it: link previews of mail and chat programs ask this."""
    return _usable_links(plaintext, now or timezone.now()).exists()


def login_link_use(plaintext: str, *, now: datetime | None = None) -> User | None:
    """Whose link it is, exactly once: of two uses at the same moment one gets None, as does a late one."""
    now = now or timezone.now()
    link = _usable_links(plaintext, now).select_related("user").first()
    if link is None:
        return None
    # Columns of this table only: behind a join PostgreSQL would not check them again after a rival.
    if not LoginLink.objects.filter(pk=link.pk, used_at__isnull=True).update(used_at=now):
        return None
    return link.user


def _usable_links(plaintext: str, now: datetime) -> QuerySet[LoginLink]:
    return LoginLink.objects.filter(
        token_hash=_link_hash(plaintext), used_at__isnull=True, expires_at__gt=now, user__is_active=True
    )


def _link_hash(plaintext: str) -> str:
    """A plain hash will do: the token has 256 random bits, so there is nothing to guess or to salt."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


def token_create(
    *,
    user: User,
    name: str,
    workspace: Workspace | None = None,
    scopes: Sequence[str] = ("read", "write"),
    days: int = TOKEN_DAYS_DEFAULT,
    now: datetime | None = None,
) -> tuple[ApiToken, str]:
    """A named token and its text, which is shown once. Raises TokenRefused with the reason."""
    name = name.strip()
    if not 1 <= len(name) <= TOKEN_NAME_MAX_CHARS:
        raise TokenRefused(f"A token needs a name of 1 to {TOKEN_NAME_MAX_CHARS} characters.")
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown or not scopes:
        raise TokenRefused(f"Scopes are any of: {', '.join(SCOPES)}.")
    if not 1 <= days <= TOKEN_DAYS_MAX:
        raise TokenRefused(f"A token lives 1 to {TOKEN_DAYS_MAX} days.")
    if workspace is not None and not Workspace.objects.for_user(user).filter(pk=workspace.pk).exists():
        raise TokenRefused(f"{user} is not a member of {workspace}.")
    digest, plaintext = get_digest_token()
    token = ApiToken(
        digest=digest,
        token_key=plaintext[: CONSTANTS.TOKEN_KEY_LENGTH],
        user=user,
        name=name,
        workspace=workspace,
        scopes=[scope for scope in SCOPES if scope in scopes],
        expiry=(now or timezone.now()) + timedelta(days=days),
    )
    try:
        with transaction.atomic():
            token.save(force_insert=True)
    except IntegrityError:
        said = f"{user} already has a token named {name!r}. Revoke it or choose another name."
        raise TokenRefused(said) from None
    return token, plaintext


def token_revoke(token: ApiToken) -> None:
    """End a token at once; its next request is refused."""
    logger.info("Token %r of %s revoked.", token.name, token.user)
    token.delete()


def member_add(
    *, user: User, workspace: Workspace, role: Role = Role.MEMBER, confirmed_by: User | None = None
) -> Membership:
    """Make somebody a member, or change their role. Raises SharingNeedsDecision as `sharing_decide` does."""
    sharing_decide(workspace, joining=user, confirmed_by=confirmed_by)
    return Membership.objects.update_or_create(user=user, workspace=workspace, defaults={"role": role})[0]


def sharing_decide(
    workspace: Workspace, *, joining: User | None = None, confirmed_by: User | None = None
) -> None:
    """Raises SharingNeedsDecision if members, or the one who joins, would read a memory home they do not
    belong to: isolate the workspace, add them to the home, or let an operator confirm, which is logged.
    """
    problem = sharing_problem(workspace, joining=joining)
    if problem and not (confirmed_by is not None and confirmed_by.is_superuser):
        raise SharingNeedsDecision(problem)
    if problem:
        logger.critical("%s confirmed for %s: %s", confirmed_by, workspace, problem)


def accounts_prune(*, now: datetime | None = None) -> dict[str, int]:
    """Delete expired sessions now; tokens and links a month after they ended, failed logins a month old."""
    from axes.models import AccessFailureLog
    from django.contrib.sessions.models import Session

    now = now or timezone.now()
    before = now - timedelta(days=EXPIRED_KEEP_DAYS)
    return {
        "sessions": Session.objects.filter(expire_date__lt=now).delete()[0],
        "tokens": ApiToken.objects.filter(expiry__lt=before).delete()[0],
        "links": LoginLink.objects.filter(expires_at__lt=before).delete()[0],
        "failures": AccessFailureLog.objects.filter(attempt_time__lt=before).delete()[0],
    }
