"""Callers of the API: each of the cast by session or token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from crewsite.accounts.models import Role, User, Workspace
from crewsite.accounts.services import token_create
from tests.factories import make_member, make_user

Caller = Callable[..., APIClient]


@pytest.fixture
def vera(home: Workspace) -> User:
    """A viewer of the default workspace."""
    user = make_user("vera")
    make_member(user, home, Role.VIEWER)
    return user


@pytest.fixture
def caller(other_home: Workspace, alice: User, bob: User, charlie: User, vera: User) -> Caller:
    """`caller("owner")`, `caller("stranger")`, ...: a client that calls as this one does."""

    def by_token(user: User, **options: object) -> APIClient:
        _, text = token_create(**{"user": user, "name": f"t{timezone.now().timestamp()}", **options})
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    def call(who: str) -> APIClient:
        if who == "anonymous":
            return APIClient()
        if who == "session":
            client = APIClient()
            client.force_login(alice)
            return client
        if who == "expired":
            return by_token(alice, now=timezone.now() - timedelta(days=100))
        if who == "read-only":
            return by_token(alice, scopes=["read"])
        if who == "write-only":
            return by_token(alice, scopes=["write"])
        if who == "elsewhere":
            make_member(alice, other_home, Role.OWNER)
            return by_token(alice, workspace=other_home)
        people = {"owner": alice, "member": bob, "viewer": vera, "stranger": charlie}
        return by_token(people[who])

    return call
