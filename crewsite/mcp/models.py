"""The ledger of tool calls through MCP: who, with which token, what came of it. Never what was said."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from crewsite.accounts.models import ApiToken, Workspace
from crewsite.mcp.constants import CLIENT_MAX_CHARS, NOTE_MAX_CHARS


class ToolCall(models.Model):
    """One call. Arguments and results are not kept: they may hold what nobody wants in a log."""

    class Transport(models.TextChoices):
        STDIO = "stdio", "stdio"
        HTTP = "http", "HTTP"

    class Outcome(models.TextChoices):
        OK = "ok", "Done"
        REFUSED = "refused", "Refused by the tool"
        DENIED = "denied", "Not allowed"
        INVALID = "invalid", "Wrong arguments"
        FAILED = "failed", "Failed"
        TIMEOUT = "timeout", "Took too long"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    token = models.ForeignKey(
        ApiToken, on_delete=models.SET_NULL, null=True, blank=True, related_name="tool_calls"
    )
    token_name = models.CharField(max_length=100, blank=True, help_text="Outlives the token.")
    transport = models.CharField(max_length=8, choices=Transport.choices)
    client = models.CharField(
        max_length=CLIENT_MAX_CHARS, blank=True, help_text="What the agent calls itself."
    )
    tool = models.CharField(max_length=100)
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    note = models.CharField(max_length=NOTE_MAX_CHARS, blank=True, help_text="Code or reason of what failed.")
    chars = models.PositiveIntegerField(default=0, help_text="Length of the answer.")
    duration_ms = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["user", "-id"], name="mcp_call_user"),
            models.Index(fields=["at"], name="mcp_call_at"),
        ]

    def __str__(self) -> str:
        return f"{self.tool}: {self.outcome}"
