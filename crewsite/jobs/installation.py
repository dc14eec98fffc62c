"""Installs the schedules that apps list as data into django-q2's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from crewsite.jobs.constants import SCHEDULE_PREFIX

if TYPE_CHECKING:
    from django_q.models import Schedule

    from crewsite.jobs.schedules import ScheduleSpec


@dataclass(frozen=True, slots=True)
class Installed:
    """How many schedules an installation made, changed, left alone and removed."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0


def schedule_specs() -> list[ScheduleSpec]:
    """The schedules of every app named in `CREW_SCHEDULES`."""
    return [spec for path in settings.CREW_SCHEDULES for spec in import_string(path)]


def schedules_install(specs: list[ScheduleSpec]) -> Installed:
    """Make the table hold exactly these among the schedules of ours. Kept ones keep their next run."""
    from django_q.models import Schedule

    counts = {"created": 0, "updated": 0, "unchanged": 0}
    with transaction.atomic():
        ours = Schedule.objects.select_for_update().filter(name__startswith=SCHEDULE_PREFIX).order_by("pk")
        by_name: dict[str, Schedule] = {}
        retired = []
        wanted = {SCHEDULE_PREFIX + spec.name: spec for spec in specs}
        for row in ours:
            if row.name in by_name or row.name not in wanted:
                retired.append(row.pk)
            else:
                by_name[row.name] = row
        for name, spec in wanted.items():
            counts[_install(by_name.get(name), name, spec)] += 1
        Schedule.objects.filter(pk__in=retired).delete()
    return Installed(removed=len(retired), **counts)


def _install(row: Schedule | None, name: str, spec: ScheduleSpec) -> str:
    from django_q.models import Schedule

    fields: dict[str, Any] = {
        "func": spec.func,
        "schedule_type": Schedule.CRON if spec.cron else Schedule.MINUTES,
        "minutes": spec.minutes,
        "cron": spec.cron or None,
        "repeats": -1,
    }
    if row is None:
        row = Schedule(name=name, **fields)
        row.full_clean()
        row.save()
        return "created"
    if all(getattr(row, field) == value for field, value in fields.items()):
        return "unchanged"
    rhythm = ("schedule_type", "cron", "minutes")
    retimed = any(getattr(row, field) != fields[field] for field in rhythm)
    for field, value in fields.items():
        setattr(row, field, value)
    row.full_clean()
    if retimed:
        # From now on: the old rhythm's next run may be a day off.
        row.next_run = row.calculate_next_run(timezone.now())
    row.save()
    return "updated"
