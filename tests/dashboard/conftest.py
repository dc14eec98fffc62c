"""The rest of the cast for pages: a viewer."""

from __future__ import annotations

import pytest

from crewsite.accounts.models import Role, User, Workspace
from tests.factories import make_member, make_user


@pytest.fixture
def vera(home: Workspace) -> User:
    """A viewer of the default workspace."""
    user = make_user("vera")
    make_member(user, home, Role.VIEWER)
    return user
