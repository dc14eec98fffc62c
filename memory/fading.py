"""What fading takes out of sight today, home by home: history by its age, episodes by theirs, and those over
the cap. The three do not coordinate (chapter 02, 2.7); here they are only counted.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Q

from crewsite.accounts.models import Workspace
from crewsite.accounts.zones import zone_named
from memory.constants import AGE_FLOOR, DECAY_PER_DAY
from memory.history import history_ages
from memory.live import decay_by_tag, episodic_max_rows
from memory.models import EpisodicMemory, HistoryEntry
from memory.ranking import decay_rate
from memory.services.episodic import CAPACITY

# Where age has taken half of what it may take at most.
HALF: Final = math.log(2)


@dataclass(frozen=True, slots=True)
class Fading:
    """`history_shortened`: entries that a prompt only counts; `history_unshown`: too old for any prompt.
    `episodes_faded`: past their half-life, so that they rank lower in prompts; none is hidden by it.
    `evicted`: tombstoned over the cap; `over_cap`: go with the next write.
    """

    name: str
    slug: str
    history: int
    history_shortened: int
    history_unshown: int
    episodes: int
    episodes_faded: int
    evicted: int
    over_cap: int


def fading_by_home(*, now: dt.datetime) -> list[Fading]:
    """Those homes that hold anything which can fade, by name. The number of queries is constant."""
    workspaces = list(Workspace.objects.order_by("name").values_list("pk", "name", "slug", "time_zone"))
    history = _history_counts({pk: zone for pk, _, _, zone in workspaces}, now)
    episodes = _episode_counts(now)
    cap = episodic_max_rows()
    rows = []
    for pk, name, slug, _ in workspaces:
        ages, (live, faded, evicted) = history[pk], episodes.get(pk, (0, 0, 0))
        if not ages and not live and not evicted:
            continue
        rows.append(
            Fading(
                name=name,
                slug=slug,
                history=ages.total(),
                history_shortened=ages["shortened"],
                history_unshown=ages["unshown"],
                episodes=live,
                episodes_faded=faded,
                evicted=evicted,
                over_cap=max(0, live + 1 - cap),
            )
        )
    return rows


def most_taken_by_age() -> float:
    """The share of an episode's weight that age takes at most."""
    return 1.0 - AGE_FLOOR


def _history_counts(zones: dict[int, str], now: dt.datetime) -> dict[int, Counter[str]]:
    today = {zone: now.astimezone(zone_named(zone)).date() for zone in set(zones.values())}
    full, first, counted, *_ = history_ages()
    found: dict[int, Counter[str]] = defaultdict(Counter)
    days = HistoryEntry.objects.order_by().values_list("workspace", "day").annotate(entries=Count("pk"))
    for workspace_id, day, entries in days:
        age = (today[zones[workspace_id]] - day).days
        kind, hidden = "unshown", entries
        if age < (full.until_days or 0):
            kind, hidden = "full", entries
        elif age < (first.until_days or 0):
            kind, hidden = "shortened", entries - 1
            found[workspace_id]["full"] += 1
        elif age < (counted.until_days or 0):
            kind = "shortened"
        found[workspace_id][kind] += hidden
    return found


def _episode_counts(now: dt.datetime) -> dict[int, tuple[int, int, int]]:
    """(live, past their half-life, tombstoned over the cap) by home."""
    half_life = dt.timedelta(days=HALF / DECAY_PER_DAY)
    live = Q(is_deleted=False)
    counts = (
        EpisodicMemory.all_objects.order_by()
        .values_list("home")
        .annotate(
            live=Count("pk", filter=live),
            faded=Count("pk", filter=live & Q(created_at__lt=now - half_life)),
            evicted=Count("pk", filter=Q(is_deleted=True, deleted_reason=CAPACITY)),
        )
    )
    moved = _moved_by_tags(now)
    return {home: (rows, faded + moved[home], evicted) for home, rows, faded, evicted in counts}


def _moved_by_tags(now: dt.datetime) -> Counter[int]:
    """How many rows the rates of their tags put past the half-life, by home; negative where tags keep rows
    longer.
    """
    rates = decay_by_tag()
    moved: Counter[int] = Counter()
    if rates:
        tagged = EpisodicMemory.objects.exclude(tags=[]).values_list("home_id", "created_at", "tags")
        for home_id, created_at, tags in tagged.iterator():
            days = (now - created_at) / dt.timedelta(days=1)
            own, default = decay_rate(tags, rates) * days > HALF, DECAY_PER_DAY * days > HALF
            moved[home_id] += own - default
    return moved
