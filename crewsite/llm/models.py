"""Connections to models that operators made, and what models were used for, a row a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone

from crewsite.llm.constants import PROVIDER_NAMES, RESERVED_NAMES
from crewsite.security.encryption import EncryptedTextField, SecretLocked

if TYPE_CHECKING:
    from typing import Literal


class ConnectionManager(models.Manager["Connection"]):
    """Leaves the key in the database until it is asked for: a row whose key is locked can still be listed."""

    def get_queryset(self) -> models.QuerySet[Connection]:
        return super().get_queryset().defer("api_key")


class Connection(models.Model):
    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible"
        ANTHROPIC = "anthropic", "Anthropic"
        LLAMA = "llama", "GGUF file on this machine"
        ACP = "acp", "Agent on this machine (ACP)"

    name = models.CharField(
        max_length=60,
        unique=True,
        validators=[
            RegexValidator(r"^[a-z0-9][a-z0-9._-]*$", "Use small letters, digits, dots, dashes, underscores.")
        ],
    )
    provider = models.CharField(max_length=16, choices=Provider.choices, default=Provider.OPENAI)
    base_url = models.CharField(max_length=500, blank=True, help_text="Empty: the provider's own address.")
    model = models.CharField(
        max_length=500, help_text="The model's name there; the path of a GGUF file; the command of an agent."
    )
    api_key = EncryptedTextField(blank=True, editable=False)
    key_hint = models.CharField(max_length=4, blank=True, editable=False)
    key_set_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ConnectionManager()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.name in RESERVED_NAMES | PROVIDER_NAMES:
            raise ValidationError({"name": f"“{self.name}” has a meaning of its own; choose another name."})

    @property
    def key_state(self) -> Literal["none", "set", "locked"]:
        if self.key_set_at is None:
            return "none"
        try:
            self.api_key  # noqa: B018 - loading it is the test
        except SecretLocked:
            return "locked"
        return "set"


class ModelUsage(models.Model):
    """What one model did in one day (UTC) for one purpose. Cost is what its public price makes it."""

    day = models.DateField()
    model = models.CharField(max_length=200)
    purpose = models.CharField(max_length=32)
    calls = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    cost_usd = models.FloatField(default=0.0)
    unpriced_calls = models.PositiveIntegerField(
        default=0, help_text="Answered calls whose cost is not known, so not in the sum."
    )

    class Meta:
        ordering = ["-day", "model", "purpose"]
        verbose_name = "model usage"
        verbose_name_plural = "model usage"
        constraints = [models.UniqueConstraint(fields=["day", "model", "purpose"], name="llm_usage_unique")]

    def __str__(self) -> str:
        return f"{self.day} {self.model} ({self.purpose})"
