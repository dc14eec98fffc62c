"""The daily prune and its schedule."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone
from django.utils.module_loading import import_string

from memory.models import HistoryEntry
from memory.schedules import SCHEDULES
from memory.tasks import prune
from tests.factories import make_workspace


@pytest.mark.django_db
def test_the_prune_deletes_only_history_past_its_age_and_may_run_twice() -> None:
    home = make_workspace()
    today = timezone.now().date()
    for age in (1, 364, 366):
        HistoryEntry.objects.create(
            workspace=home, day=today - dt.timedelta(days=age), time=dt.time(9), title="t", text="x"
        )
    assert prune()["history"] == 1
    assert prune()["history"] == 0
    assert HistoryEntry.objects.count() == 2


def test_schedules_name_functions_that_exist() -> None:
    assert [import_string(spec.func) for spec in SCHEDULES] == [prune]
    assert SCHEDULES[0].cron == "30 3 * * *"
