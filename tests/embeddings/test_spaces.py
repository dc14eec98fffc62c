from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crewsite.embeddings.models import Space
from crewsite.embeddings.service import reset, set_backend
from crewsite.embeddings.spaces import active_space
from tests.fakes import FakeEmbedder

pytestmark = pytest.mark.django_db


class Loading(FakeEmbedder):
    signature = ""

    def is_ready(self) -> bool:
        return False


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    yield
    reset()


def use(signature: str) -> None:
    fake = FakeEmbedder()
    fake.signature = signature
    set_backend(lambda: fake)


def test_without_a_model_there_is_no_space(settings: Any, tmp_path: Path) -> None:
    settings.CREW_HOME, settings.CREW_EMBED_MODEL_PATH, settings.CREW_EMBED_BASE_URL = tmp_path, "", ""
    reset()
    assert active_space() is None
    assert not Space.objects.exists()


def test_the_running_model_opens_its_space_once(embedder: FakeEmbedder) -> None:
    first = active_space()
    assert first is not None
    assert active_space() == first
    assert Space.objects.count() == 1


def test_while_the_model_loads_the_active_space_stays(embedder: FakeEmbedder) -> None:
    before = active_space()
    set_backend(Loading)
    assert active_space() == before


def test_another_model_activates_its_own_space_and_retires_the_other() -> None:
    use("model-a")
    first = active_space()
    use("model-b")
    second = active_space()
    assert first is not None
    assert second is not None
    assert (second.signature, second.status) == ("model-b", "active")
    first.refresh_from_db()
    assert first.status == Space.Status.RETIRED


def test_going_back_to_a_model_reuses_its_space() -> None:
    use("model-a")
    first = active_space()
    use("model-b")
    active_space()
    use("model-a")
    assert active_space() == first
    assert Space.objects.filter(status=Space.Status.ACTIVE).count() == 1
