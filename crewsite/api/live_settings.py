"""Live settings of memory over HTTP, for operators. What each means and may be is `settings.live`'s."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from constance import config
from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from crewsite.api.base import PROBLEMS, CrewView
from crewsite.api.serializers import StrictSerializer, Text
from crewsite.settings.live_rules import (
    MAX_CHARS,
    MAX_NUMBER,
    SettingRefused,
    setting_least,
    setting_read,
)

if TYPE_CHECKING:
    from rest_framework.request import Request

logger = logging.getLogger(__name__)

PREFIXES: Final = ("HISTORY_", "CONSOLIDATION_", "EPISODIC_", "SEMANTIC_", "LESSON", "MEMORY_", "THREAD_")


def memory_settings() -> list[str]:
    return [name for name in settings.CONSTANCE_CONFIG if name.startswith(PREFIXES)]


def _field(name: str) -> serializers.Field[Any, Any, Any, Any]:
    _, help_text, kind = settings.CONSTANCE_CONFIG[name][:3]
    shared: dict[str, Any] = {"required": False, "help_text": help_text}
    if kind is bool:
        return serializers.BooleanField(**shared)
    if kind is int:
        return serializers.IntegerField(min_value=setting_least(name), max_value=MAX_NUMBER, **shared)
    if kind is float:
        return serializers.FloatField(min_value=setting_least(name), max_value=MAX_NUMBER, **shared)
    return Text(allow_blank=True, max_length=MAX_CHARS, **shared)


class _Checked(StrictSerializer):
    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wrong = {}
        for name, value in attrs.items():
            try:
                setting_read(name, str(value))
            except SettingRefused as refused:
                wrong[name] = [str(refused)]
        if wrong:
            raise serializers.ValidationError(wrong)
        return attrs


MemorySettings = type("MemorySettings", (_Checked,), {name: _field(name) for name in memory_settings()})


class LiveSettings(CrewView):
    token_scope = "admin"  # noqa: S105 - a scope, no secret

    @extend_schema(operation_id="memory_settings_retrieve", responses={200: MemorySettings, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Every live setting of memory."""
        self.query(StrictSerializer)
        return Response(_values())

    @extend_schema(
        operation_id="memory_settings_write",
        request=MemorySettings,
        responses={200: MemorySettings, **PROBLEMS},
    )
    def put(self, request: Request) -> Response:
        """Set those that are named; they apply at once. All are answered."""
        self.query(StrictSerializer)
        for name, value in self.body(MemorySettings).items():
            if getattr(config, name) != value:
                setattr(config, name, value)
                logger.info("%s changed the live setting %s.", self.person, name)
        return Response(_values())


def _values() -> dict[str, Any]:
    return {name: getattr(config, name) for name in memory_settings()}
