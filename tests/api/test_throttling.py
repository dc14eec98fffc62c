"""Limits by token, person and address, as the live settings say now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from constance import config
from django.core.cache import cache
from rest_framework.test import APIClient

from crewsite.chat.limits import seconds_to_wait
from crewsite.live import forget

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db
Caller = Callable[..., APIClient]
LESSONS = "/api/v1/lessons/"


@pytest.fixture
def limits() -> Any:
    """Sets live settings for one test; none is kept for the next."""

    def put(**values: int) -> None:
        for name, value in values.items():
            setattr(config, name, value)

    yield put
    forget()


def test_a_token_that_reads_too_much_waits(caller: Caller, limits: Any) -> None:
    limits(API_READS_PER_MINUTE=3)
    client = caller("owner")
    assert [client.get(LESSONS).status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = client.get(LESSONS)
    assert refused.json()["code"] == "throttled"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert caller("member").get(LESSONS).status_code == 200


def test_writes_have_a_limit_of_their_own(caller: Caller, limits: Any) -> None:
    limits(API_WRITES_PER_MINUTE=1)
    client = caller("owner")
    body: dict[str, str] = {}
    assert [client.post(LESSONS, body, format="json").status_code for _ in range(2)] == [400, 429]
    assert client.get(LESSONS).status_code == 200


def test_a_changed_limit_holds_at_once(caller: Caller, limits: Any) -> None:
    limits(API_READS_PER_MINUTE=1)
    client = caller("owner")
    assert [client.get(LESSONS).status_code for _ in range(2)] == [200, 429]
    limits(API_READS_PER_MINUTE=5)
    assert client.get(LESSONS).status_code == 200


def test_guessed_tokens_and_nobody_count_by_address(db: None, limits: Any) -> None:
    limits(API_ANONYMOUS_PER_MINUTE=2)
    guess = {"HTTP_AUTHORIZATION": "Bearer crew_guess"}
    told = [APIClient().get(LESSONS, **guess).status_code for _ in range(3)]  # type: ignore[arg-type]
    assert told == [401, 401, 429]
    assert APIClient().get(LESSONS).status_code == 429
    assert APIClient().get("/api/v1/schema/").status_code == 429
    assert APIClient().get(LESSONS, REMOTE_ADDR="10.0.0.9").status_code == 401


def test_health_is_asked_as_often_as_one_likes(db: None, limits: Any) -> None:
    limits(API_ANONYMOUS_PER_MINUTE=1)
    assert {APIClient().get("/api/v1/health/live").status_code for _ in range(5)} == {200}


def test_the_minute_slides() -> None:
    cache.clear()
    start = 6_000_000.0
    assert [seconds_to_wait("k", 2, now=start + 50) for _ in range(3)] == [0, 0, 10]
    assert seconds_to_wait("k", 2, now=start + 61) == 29  # then half of them lie a minute back
    assert seconds_to_wait("k", 2, now=start + 100) == 0
    assert seconds_to_wait("k", 2, now=start + 300) == 0


def test_limits_stand_in_the_settings_of_the_site(home: Workspace) -> None:
    assert (config.API_READS_PER_MINUTE, config.API_WRITES_PER_MINUTE, config.API_ANONYMOUS_PER_MINUTE) == (
        600,
        120,
        30,
    )


def test_many_clients_do_not_make_the_site_forget_whom_it_has_counted(db: None, limits: Any) -> None:
    cache.clear()
    limits(API_ANONYMOUS_PER_MINUTE=1)
    first = {"REMOTE_ADDR": "192.0.2.1"}
    assert APIClient().get(LESSONS, **first).status_code == 401  # type: ignore[arg-type]
    for number in range(400):
        assert seconds_to_wait(f"another-{number}", 1) == 0
    assert APIClient().get(LESSONS, **first).status_code == 429  # type: ignore[arg-type]


def test_a_count_that_the_cache_dropped_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(cache, "add", lambda *_, **__: False)  # dropped by others just after
    assert seconds_to_wait("dropped", 1) == 0
    assert seconds_to_wait("dropped", 1) > 0
