"""Tasks that the tests of the queue run."""

from __future__ import annotations

import threading

from crewsite.jobs.services import job_progress, job_run

CALLS: list[tuple[object, ...]] = []


def note(*args: object) -> None:
    CALLS.append(args)


def fail(*args: object) -> None:
    raise ValueError("this task fails")


def steps(count: int, pause_s: float = 0.1) -> None:
    """Work of so many steps, each reported."""
    pause = threading.Event()
    with job_run("steps", total=count) as job:
        for done in range(1, count + 1):
            pause.wait(pause_s)
            job_progress(job, done=done, message=f"{done} steps made")


def skip() -> dict[str, str]:
    return {"skipped": "it is running already"}
