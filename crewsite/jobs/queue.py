"""The one way into the task queue. What a task does and how far it is belongs to `services`."""

from __future__ import annotations

from typing import Any

from django.db import transaction


def enqueue(task_path: str, *args: Any) -> None:
    """Queue a task by its dotted path once the surrounding transaction has committed, else at once.

    A queue that cannot be reached is logged and never undoes the write that asked: every task has a schedule
    or a person who can start it again.
    """

    def push() -> None:
        from django_q.tasks import async_task

        async_task(task_path, *args)

    transaction.on_commit(push, robust=True)
