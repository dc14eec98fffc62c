"""Progress on a terminal: of a job, read from its row like everybody else reads it, or of items in hand."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from django.db import connection

from crewsite.jobs.models import Job

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

T = TypeVar("T")
LOOK_EVERY_S: Final = 0.25


@contextmanager
def progress_shown(kind: str, title: str) -> Iterator[None]:
    """A bar on standard error while the block runs jobs of this kind; nothing without a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    stop = threading.Event()
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        watcher = threading.Thread(target=_watch, args=(kind, bar, task, stop), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


def counted(items: Sequence[T], title: str) -> Iterator[T]:
    """The items, with a bar on standard error for how many are done; nothing without a terminal."""
    if not sys.stderr.isatty() or len(items) < 2:  # noqa: PLR2004 - of one there is nothing to count
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, description=title)


def _watch(kind: str, bar: Progress, task: TaskID, stop: threading.Event) -> None:
    while not stop.wait(LOOK_EVERY_S):
        job = Job.objects.of_kind(kind).active().order_by("-id").first()
        if job is not None:
            bar.update(task, completed=job.done, total=job.total, description=job.message or None)
    connection.close()
