"""The review queue in admin: read what is proposed, then accept, merge or reject it. Deciding is for owners
of the home: it may store what screening refused.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponseRedirect
from django.urls import path, reverse
from django.views.decorators.http import require_POST

from crewsite.accounts.models import Role, Workspace
from crewsite.rows_admin import ReadOnlyModelAdmin, admin_origin, pretty_json
from memory.admin.base import OwnWorkspacesMixin, author_of
from memory.models import ReviewItem
from memory.review import review_proposal
from memory.services import review_accept, review_merge, review_reject

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.urls import URLPattern

    from memory.results import ReviewOutcome

DECIDED = {"accept": "accepted", "merge": "merged", "reject": "rejected"}


@admin.register(ReviewItem)
class ReviewItemAdmin(OwnWorkspacesMixin, ReadOnlyModelAdmin):
    list_display = ["summary", "kind", "state", "home", "created_at", "decided_by", "decided_at"]
    list_filter = ["state", "kind", "home", "created_at"]
    list_select_related = ["home"]
    search_fields = ["summary"]
    date_hierarchy = "created_at"
    exclude = ["payload"]
    readonly_fields = ["proposal"]
    actions = ["accept", "reject"]
    change_form_outer_before_template = "admin/memory/review.html"

    @admin.display(description="Payload")
    def proposal(self, item: ReviewItem) -> str:
        return pretty_json(item.payload)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        context = {**(extra_context or {}), "decision": partial(self._decision, request, object_id)}
        page: HttpResponse = super().change_view(request, object_id, form_url, context)
        return page

    def _decision(self, request: HttpRequest, object_id: str) -> dict[str, Any] | None:
        item = self.get_object(request, unquote(object_id))
        if item is None:
            return None
        is_open = item.state == ReviewItem.State.OPEN
        return {"proposal": review_proposal(item), "may_decide": is_open and self._may_decide(request, item)}

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_POST(self._decide_view))
        return [path("<path:object_id>/decide/", view, name="memory_reviewitem_decide"), *super().get_urls()]

    def _decide_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        item = self.get_object(request, unquote(object_id))
        if item is None:
            raise Http404
        if not self._may_decide(request, item):
            raise PermissionDenied
        word = request.POST.get("decision", "")
        if word not in DECIDED:
            raise Http404
        self._report(request, [(item, self._decide(request, item, word))], DECIDED[word])
        return HttpResponseRedirect(reverse("admin:memory_reviewitem_change", args=[item.pk]))

    @admin.action(description="Accept")
    def accept(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        self._decide_many(request, queryset, "accept")

    @admin.action(description="Reject")
    def reject(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        self._decide_many(request, queryset, "reject")

    def _decide_many(self, request: HttpRequest, queryset: QuerySet[ReviewItem], word: str) -> None:
        items = [item for item in queryset.select_related("home") if self._may_decide(request, item)]
        if len(items) < queryset.count():
            self.message_user(request, "Only owners of a home decide its items.", messages.WARNING)
        self._report(request, [(item, self._decide(request, item, word)) for item in items], DECIDED[word])

    def _decide(self, request: HttpRequest, item: ReviewItem, word: str) -> ReviewOutcome:
        origin, author = admin_origin(request), author_of(request)
        if word == "accept":
            return review_accept(item=item, origin=origin, author=author)
        if word == "merge":
            return review_merge(item=item, text=request.POST.get("text", ""), origin=origin, author=author)
        return review_reject(item=item, origin=origin)

    def _may_decide(self, request: HttpRequest, item: ReviewItem) -> bool:
        user = author_of(request)
        if user is None or user.is_superuser:
            return user is not None
        return Workspace.objects.for_user(user, at_least=Role.OWNER).filter(pk=item.home_id).exists()

    def _report(self, request: HttpRequest, decided: list[tuple[Any, ReviewOutcome]], word: str) -> None:
        for item, outcome in decided:
            if outcome.message:
                level = messages.INFO if outcome.ok else messages.WARNING
                self.message_user(request, f"{item}: {outcome.message}", level)
        done = sum(outcome.ok and not outcome.repeated for _, outcome in decided)
        if done:
            self.message_user(request, f"{done} {word}.", messages.SUCCESS)
