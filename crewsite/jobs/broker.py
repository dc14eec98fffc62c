"""django-q2's queue on the database, from which workers claim nothing while the site is under maintenance."""

from __future__ import annotations

from time import sleep
from typing import Any

from django_q.brokers.orm import ORM
from django_q.conf import Conf

from crewsite.jobs.store import maintenance_now


class Broker(ORM):
    def dequeue(self) -> Any:
        self.get_connection()
        if maintenance_now() is not None:
            sleep(Conf.POLL)
            return None
        return super().dequeue()
