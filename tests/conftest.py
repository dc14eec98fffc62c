"""The small cast every permission test uses, and the embedder most tests run with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crewsite.accounts.models import Role, User, Workspace
from tests.factories import make_member, make_user, make_workspace
from tests.fakes import FakeEmbedder


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
