"""The Review page: what the heuristics would not decide alone, and owners decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from crewsite.dashboard.place import in_place, is_fragment, page
from crewsite.dashboard.reviews import ITEMS_A_PAGE, review_lines, reviews_open
from memory.models import ReviewItem
from memory.review import reviews_read_by
from memory.services import review_accept, review_merge, review_reject, review_reopen

if TYPE_CHECKING:
    from crewsite.dashboard.place import Place
    from memory.results import ReviewOutcome

DONE_WORDS = {"accept": "Accepted.", "reject": "Rejected.", "merge": "Merged.", "reopen": "Open again."}
REFUSED = 422


@require_GET
@in_place
def review(request: HttpRequest, place: Place) -> HttpResponse:
    decided = request.GET.get("state") == "decided"
    kind = request.GET.get("kind", "")
    kind = kind if kind in ReviewItem.Kind.values else ""
    if decided:
        items = reviews_read_by(place.workspace, place.home).exclude(state=ReviewItem.State.OPEN)
        items = items.order_by("-decided_at", "-pk")
    else:
        items = reviews_open(place.workspace, place.home).order_by("pk")
    items = items.filter(kind=kind) if kind else items
    shown = Paginator(items.select_related("home"), ITEMS_A_PAGE).get_page(request.GET.get("page"))
    lines = review_lines(place, list(shown.object_list))
    context = {
        "decided": decided,
        "kind": kind,
        "kinds": ReviewItem.Kind.choices,
        "shown": shown,
        "lines": lines,
        "any_merge": any(line.can_merge for line in lines),
    }
    return page(request, place, "dashboard/review.html", context)


@require_POST
@in_place
def review_decide(request: HttpRequest, place: Place, pk: int) -> HttpResponse:
    item = reviews_read_by(place.workspace, place.home).select_related("home").filter(pk=pk).first()
    word = request.POST.get("decision", "")
    if item is None or word not in DONE_WORDS:
        raise Http404
    if not place.owns(item.home_id):
        raise PermissionDenied
    outcome = _decide(place, item, word, request.POST.get("text", ""))
    said = outcome.message or DONE_WORDS[word]
    if not is_fragment(request):
        messages.add_message(request, messages.SUCCESS if outcome.ok else messages.WARNING, said)
        return redirect("dashboard:review")
    item.refresh_from_db()
    context: dict[str, Any] = {"line": review_lines(place, [item])[0], "said": said, "ok": outcome.ok}
    context["waiting"] = reviews_open(place.workspace, place.home).count()
    return page(request, place, "dashboard/_review.html", context, status=200 if outcome.ok else REFUSED)


def _decide(place: Place, item: ReviewItem, word: str, text: str) -> ReviewOutcome:
    if word == "accept":
        return review_accept(item=item, origin=place.origin, author=place.user)
    if word == "merge":
        return review_merge(item=item, text=text, origin=place.origin, author=place.user)
    if word == "reopen":
        return review_reopen(item=item, origin=place.origin, author=place.user)
    return review_reject(item=item, origin=place.origin)
