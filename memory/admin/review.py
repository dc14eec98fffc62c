"""The review queue in admin: read what is proposed, accept or reject it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages

from crewsite.rows_admin import ReadOnlyModelAdmin, admin_origin, pretty_json
from memory.admin.base import OwnWorkspacesMixin, author_of
from memory.models import ReviewItem
from memory.services import review_accept, review_reject

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest

    from memory.results import ReviewOutcome


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

    @admin.display(description="What accepting it writes")
    def proposal(self, item: ReviewItem) -> str:
        return pretty_json(item.payload)

    @admin.action(description="Accept")
    def accept(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        origin, author = admin_origin(request), author_of(request)
        self._report(
            request, [(i, review_accept(item=i, origin=origin, author=author)) for i in queryset], "accepted"
        )

    @admin.action(description="Reject")
    def reject(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        origin = admin_origin(request)
        self._report(request, [(i, review_reject(item=i, origin=origin)) for i in queryset], "rejected")

    def _report(self, request: HttpRequest, decided: list[tuple[Any, ReviewOutcome]], word: str) -> None:
        for item, outcome in decided:
            if not outcome.ok:
                self.message_user(request, f"{item}: {outcome.message}", messages.WARNING)
        done = sum(outcome.ok for _, outcome in decided)
        if done:
            self.message_user(request, f"{done} {word}.", messages.SUCCESS)
