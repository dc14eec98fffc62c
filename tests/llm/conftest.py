"""The scripted model as the one that this process calls; no failure of it outlasts a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crewsite.llm import breaker
from tests.llm_server import LlmServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper


@pytest.fixture(autouse=True)
def no_failures_yet() -> Iterator[None]:
    breaker.reset()
    yield
    breaker.reset()


@pytest.fixture
def server(settings: SettingsWrapper) -> Iterator[LlmServer]:
    with LlmServer() as running:
        settings.CREW_LLM_BASE_URL, settings.CREW_LLM_MODEL = running.url, "scripted"
        yield running
