"""The Events page and its exports. Reading is for every member, taking them away for owners (chapter 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from crewsite.dashboard.events import (
    events_csv,
    events_json,
    events_page,
    filtered,
    filters_of,
    layer_choices,
)
from crewsite.dashboard.place import in_place, is_fragment, page
from crewsite.security.models import MemoryEvent
from crewsite.security.origin import Source

if TYPE_CHECKING:
    from crewsite.dashboard.place import Place
    from crewsite.security.models import MemoryEventQuerySet

WRITERS = {"csv": (events_csv, "text/csv; charset=utf-8"), "json": (events_json, "application/json")}


@require_GET
@in_place
def events(request: HttpRequest, place: Place) -> HttpResponse:
    before = request.GET.get("before", "")
    lines, more = events_page(_chosen(request, place), before=before)
    asked = {name: value for name, value in request.GET.items() if value and name != "before"}
    context: dict[str, Any] = {
        "lines": lines,
        "more": more,
        "is_first": not before,
        "asked": urlencode(asked),
        "chosen": filters_of(request.GET),
        "is_filtered": set(asked) - {"q"},
        "kinds": MemoryEvent.Event.values,
        "layers": layer_choices(),
        "sources": Source.choices,
        "may_export": _may_export(place),
    }
    template = "dashboard/_events.html" if is_fragment(request) else "dashboard/events.html"
    return page(request, place, template, context)


@require_GET
@in_place
def events_export(request: HttpRequest, place: Place, form: str) -> HttpResponse:
    if not _may_export(place):
        raise PermissionDenied
    write, content_type = WRITERS[form]
    answer = HttpResponse(write(_chosen(request, place)), content_type=content_type)
    answer["Content-Disposition"] = f'attachment; filename="crewsite-events.{form}"'
    return answer


def _chosen(request: HttpRequest, place: Place) -> MemoryEventQuerySet:
    mine = MemoryEvent.objects.read_from(place.workspace.pk, home_id=place.home.pk)
    return filtered(mine, filters_of(request.GET), zone=place.workspace.time_zone)


def _may_export(place: Place) -> bool:
    """The events of a shared home are its owners' to take away, as are the workspace's own."""
    return place.owns(place.workspace.pk) and place.owns(place.home.pk)
