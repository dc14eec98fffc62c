"""What is in the environment, however it is written, never stops the import of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bare import run_bare

ROOT = Path(__file__).resolve().parents[1]


def told(home: Path, **environment: str) -> str:
    """What a site says that is asked to serve with these variables."""
    done = run_bare("manage.py", "check", "--tag", "security", home=home, **environment)
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgresql://crew@localhost:54x/crew"),
        ("DATABASE_URL", "postgresql://crew@[::1/crew"),
        ("DATABASE_URL", "mysql://crew@localhost/crew"),
        ("CREW_PUBLIC_URL", "https://[::1"),
        ("CREW_PUBLIC_URL", "crew.example.org"),
        ("CREW_ALLOWED_ORIGINS", "https://crew.example.org:44x"),
        ("CREW_TIME_ZONE", "Mars/Olympus"),
        ("CREW_TRUSTED_PROXIES", "10.0.0.0/80"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_with_what_it_may_be(
    tmp_path: Path, name: str, value: str
) -> None:
    assert f"(crewsite.E000) {name}" in told(tmp_path, **{name: value})


def test_a_home_of_nobody_is_named_too(tmp_path: Path) -> None:
    assert "(crewsite.E000) CREW_HOME" in told(
        tmp_path, HOME=str(tmp_path), CREW_HOME="~nobody-of-that-name/x"
    )
