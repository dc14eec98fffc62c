"""What a POST with an `Idempotency-Key` was and what it was answered, so that a repeat changes nothing."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class KeptAnswer(models.Model):
    """Without a status, the first request is still being answered."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=100)
    operation = models.CharField(max_length=300)
    fingerprint = models.CharField(max_length=64, help_text="Hash of the address and the body.")
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.TextField(blank=True)
    headers = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="api_answer_key")]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
