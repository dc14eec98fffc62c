"""Two running sites for the socket tests: one with the scripted model, one with none. Each test gets its own
member."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.llm_server import LlmServer
from tests.site import Seat, Site, make_seats, running_site

if TYPE_CHECKING:
    from collections.abc import Iterator

SEATS = 90


@pytest.fixture(scope="session")
def llm_server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture
def llm(llm_server: LlmServer) -> Iterator[LlmServer]:
    llm_server.queue.clear()
    llm_server.requests.clear()
    yield llm_server
    llm_server.queue.clear()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, llm_server: LlmServer) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site"), **llm_server.environment()) as running:
        yield running


@pytest.fixture(scope="session")
def quiet_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """No model is connected."""
    with running_site(tmp_path_factory.mktemp("quiet")) as running:
        yield running


@pytest.fixture(scope="session")
def seats(site: Site) -> Iterator[Seat]:
    return iter(make_seats(site, SEATS))


@pytest.fixture(scope="session")
def quiet_seats(quiet_site: Site) -> Iterator[Seat]:
    return iter(make_seats(quiet_site, SEATS // 3))


@pytest.fixture
def seat(seats: Iterator[Seat]) -> Seat:
    return next(seats)


@pytest.fixture
def quiet_seat(quiet_seats: Iterator[Seat]) -> Seat:
    return next(quiet_seats)
