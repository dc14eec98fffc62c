"""People, the workspaces they belong to, and the tokens and links that let them in."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone
from knox.models import AbstractAuthToken, AuthTokenManager

from crewsite.accounts.zones import zone_find

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

DEFAULT_SLUG = "default"


class User(AbstractUser):  # type: ignore[django-manager-missing]  # knox has no types
    """A person. An operator is a superuser."""


class Role(models.TextChoices):
    VIEWER = "viewer"
    MEMBER = "member"
    OWNER = "owner"

    @property
    def rank(self) -> int:
        return [Role.VIEWER, Role.MEMBER, Role.OWNER].index(self)


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def for_user(self, user: User | AnonymousUser, *, at_least: Role = Role.VIEWER) -> WorkspaceQuerySet:
        """Workspaces this person may use in that role or a higher one: the one choke point of access."""
        if not user.is_authenticated or not user.is_active:
            return self.none()
        if user.is_superuser:
            return self
        roles = [role for role in Role if role.rank >= at_least.rank]
        return self.filter(Q(memberships__user=user, memberships__role__in=roles)).distinct()

    def home_ids(self) -> set[int]:
        """Of the memory homes that these read, in two queries at most."""
        ids = {row.pk if row.is_own_home else row.memory_home_id for row in self}
        if None in ids:
            ids |= set(Workspace.objects.filter(slug=DEFAULT_SLUG).values_list("pk", flat=True))
        return {pk for pk in ids if pk is not None}


class Workspace(models.Model):  # type: ignore[django-manager-missing]  # knox has no types
    """A body of memory with members. Layers 1-3 live here, layers 4-6 in the memory home."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=100)
    slug = models.SlugField(max_length=60, unique=True)
    memory_home = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="guests",
        help_text="Whose facts, episodes and lessons are used here. Empty: those of the default workspace.",
    )
    is_isolated = models.BooleanField(default=False, help_text="Keeps its own facts, episodes and lessons.")
    time_zone = models.CharField(max_length=64, default="UTC")
    language = models.CharField(max_length=16, default="en")
    steering = models.TextField(
        blank=True, help_text="Standing instructions every new conversation starts with."
    )
    agent_prompt = models.TextField(blank=True, help_text="Who the assistant is in this workspace.")
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if zone_find(self.time_zone) is None:
            said = f"There is no time zone {self.time_zone!r} here. Names are such as Europe/Berlin or UTC."
            raise ValidationError({"time_zone": said})

    @property
    def home(self) -> Workspace:
        """The workspace whose layers 4-6 this one reads and writes."""
        if self.is_own_home:
            return self
        return self.memory_home or Workspace.objects.get(slug=DEFAULT_SLUG)

    @property
    def is_own_home(self) -> bool:
        return self.is_isolated or self.slug == DEFAULT_SLUG


class Membership(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "workspace"], name="accounts_membership_unique")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"


class ApiToken(AbstractAuthToken):
    """A named API token, hashed at rest; shown once when made."""

    name = models.CharField(max_length=100)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="tokens"
    )
    scopes = models.JSONField(default=list, help_text="Any of read, write, admin.")
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[ApiToken]] = AuthTokenManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="accounts_apitoken_name")]

    def __str__(self) -> str:
        return self.name


class LoginLink(models.Model):
    """A one-time login link: 256 random bits, hashed here, used by a POST within 15 minutes."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="login_links")
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"link for {self.user}"
