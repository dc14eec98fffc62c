"""Callers of the API: each of the cast by session or token."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
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

    def call(who: str, **options: object) -> APIClient:
        if who == "anonymous":
            return APIClient()
        if who == "session":
            client = APIClient()
            client.force_login(alice)
            return client
        if who == "operator":
            root = User.objects.filter(is_superuser=True).first() or make_user("root", is_superuser=True)
            return by_token(root, **options)
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
        return by_token(people[who], **options)

    return call


@pytest.fixture(autouse=True)
def fresh_counters() -> None:
    """No test meets the requests another has counted."""
    cache.clear()
