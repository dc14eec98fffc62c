"""A running site with the scripted model, and commands as people start them: on its machine and elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bare import bare_environment
from tests.llm_server import LlmServer
from tests.site import Site, make_token, running_site

ROOT = Path(__file__).resolve().parents[2]
Crew = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def llm() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, llm: LlmServer) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site"), **llm.environment()) as running:
        running.run("from crewsite.accounts.services import owner_ensure; owner_ensure()")
        yield running


@pytest.fixture(scope="session")
def token(site: Site) -> str:
    return make_token(site, "alice")


@pytest.fixture
def here(site: Site) -> Crew:
    """`crew ...` on the site's own machine."""
    return _crew(site.environment)


@pytest.fixture
def there(site: Site, token: str, tmp_path: Path) -> Crew:
    """`crew ... ` on a machine without a site, which is told of this one by its environment."""
    home = tmp_path / "no-home"
    return _crew(bare_environment(home, CREW_SERVER=site.url, CREW_TOKEN=token))


def _crew(environment: dict[str, str]) -> Crew:
    def run(*words: str, typed: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "crewsite.cli", *words],
            cwd=ROOT,
            env={**environment, **more},
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    run.environment = environment  # type: ignore[attr-defined]
    return run
