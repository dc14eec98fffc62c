"""The home page with its two boxes: ask memory, and teach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from crewsite.dashboard.edits import lesson_save
from crewsite.dashboard.finding import find
from crewsite.dashboard.health import site_health
from crewsite.dashboard.place import in_place, is_fragment, page
from crewsite.dashboard.remedies import remedies
from crewsite.dashboard.reviews import reviews_waiting
from crewsite.dashboard.selectors import learned_lately, waiting
from crewsite.dashboard.tables import TABLES, query_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from crewsite.dashboard.place import Place

REFUSED = 422


@require_GET
@in_place
def home(request: HttpRequest, place: Place) -> HttpResponse:
    context = {
        "learned": learned_lately(place),
        "waiting": waiting(place, review_count=reviews_waiting(request)),
        "health": site_health(),
    }
    return page(request, place, "dashboard/home.html", context)


@require_GET
@in_place
def search(request: HttpRequest, place: Place) -> HttpResponse:
    query = query_of(request.GET)
    answer = find(place, query) if query else None
    context = {"query": query, "answer": answer, "limits": remedies(answer.degraded) if answer else []}
    template = "dashboard/_found.html" if is_fragment(request) else "dashboard/search.html"
    return page(request, place, template, context)


@require_POST
@in_place
def teach(request: HttpRequest, place: Place) -> HttpResponse:
    place.require_writing()
    outcome = lesson_save(place, None, request.POST.dict())
    if is_fragment(request):
        line = TABLES["lessons"].line(place, outcome.row) if outcome.row else None
        context = {"outcome": outcome, "line": line, "given": request.POST.dict()}
        return page(request, place, "dashboard/_taught.html", context, status=200 if outcome.ok else REFUSED)
    messages.add_message(request, messages.SUCCESS if outcome.ok else messages.WARNING, outcome.message)
    return redirect("dashboard:home")
