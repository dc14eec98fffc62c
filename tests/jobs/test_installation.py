"""Schedules are data; the table follows them and keeps what is not ours."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.models import Schedule

from crewsite.jobs.installation import Installed, schedule_specs, schedules_install
from crewsite.jobs.schedules import ScheduleSpec

pytestmark = pytest.mark.django_db

EACH_MINUTE = ScheduleSpec(name="beat", func="tests.jobs.sample_tasks.note", minutes=1)
AT_NIGHT = ScheduleSpec(name="prune", func="tests.jobs.sample_tasks.note", cron="30 3 * * *")


def test_installing_twice_changes_nothing_and_keeps_the_next_run() -> None:
    assert schedules_install([EACH_MINUTE, AT_NIGHT]) == Installed(created=2)
    before = list(Schedule.objects.order_by("pk").values())
    assert schedules_install([EACH_MINUTE, AT_NIGHT]) == Installed(unchanged=2)
    assert list(Schedule.objects.order_by("pk").values()) == before


def test_a_changed_schedule_is_updated_in_place() -> None:
    schedules_install([EACH_MINUTE])
    pk = Schedule.objects.get().pk
    changed = ScheduleSpec(name="beat", func="tests.jobs.sample_tasks.fail", cron="0 4 * * *")
    assert schedules_install([changed]) == Installed(updated=1)
    row = Schedule.objects.get()
    assert (row.pk, row.func, row.schedule_type, row.minutes) == (pk, changed.func, Schedule.CRON, None)
    assert timezone.localtime(row.next_run).hour == 4


def test_retired_and_doubled_schedules_go_and_foreign_ones_stay() -> None:
    foreign = Schedule.objects.create(name="mine", func="math.sqrt", args="4")
    schedules_install([EACH_MINUTE, AT_NIGHT])
    Schedule.objects.create(name="crew: beat", func="tests.jobs.sample_tasks.note")
    assert schedules_install([EACH_MINUTE]) == Installed(unchanged=1, removed=2)
    assert set(Schedule.objects.values_list("name", flat=True)) == {"mine", "crew: beat"}
    assert Schedule.objects.filter(pk=foreign.pk).exists()


def test_a_nightly_schedule_first_runs_at_its_hour_in_site_time() -> None:
    schedules_install([AT_NIGHT])
    at = timezone.localtime(Schedule.objects.get().next_run)
    assert (at.hour, at.minute) == (3, 30)
    assert at > timezone.now()


def test_a_schedule_needs_exactly_one_rhythm() -> None:
    with pytest.raises(ValueError, match="beat"):
        ScheduleSpec(name="beat", func="a.b")
    with pytest.raises(ValueError, match="beat"):
        ScheduleSpec(name="beat", func="a.b", minutes=1, cron="* * * * *")


def test_every_schedule_of_the_site_names_a_function_that_exists() -> None:
    specs = schedule_specs()
    assert len({spec.name for spec in specs}) == len(specs)
    assert all(callable(import_string(spec.func)) for spec in specs)


def test_the_command_reports_what_it_did_and_is_quiet_on_request() -> None:
    out = StringIO()
    call_command("sync_schedules", stdout=out)
    assert "new" in out.getvalue()
    silent = StringIO()
    call_command("sync_schedules", verbosity=0, stdout=silent)
    assert silent.getvalue() == ""
