"""Installing the compact model in the background: one job, adopted while it waits or runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crewsite.embeddings.install import InstallFailed
from crewsite.embeddings.tasks import KIND, install_last, install_start, model_install
from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db


def test_an_installation_that_waits_or_runs_is_adopted() -> None:
    first, is_new = install_start()
    again, is_new_again = install_start()
    assert (first.pk, is_new, is_new_again) == (again.pk, True, False)
    Job.objects.update(state=Job.State.DONE)
    later, is_new = install_start()
    assert is_new
    assert install_last() == later


def test_its_steps_and_its_failure_are_told_in_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetches_and_fails(*, say: Callable[[str], None], **_: Any) -> Path:
        say("Fetching")
        raise InstallFailed("No network.")

    monkeypatch.setattr("crewsite.embeddings.install.install_compact", fetches_and_fails)
    with pytest.raises(InstallFailed):
        model_install()
    job = Job.objects.get(kind=KIND)
    assert (job.state, job.message, job.is_retryable) == ("failed", "Fetching", True)
    assert "No network." in job.error


def test_a_model_that_is_there_is_done_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("crewsite.embeddings.install.install_compact", lambda **_: tmp_path / "m.gguf")
    assert model_install().endswith("m.gguf")
    assert Job.objects.get(kind=KIND).state == "done"
