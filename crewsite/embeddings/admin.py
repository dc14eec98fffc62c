"""Spaces and vectors in admin: read-only, and the numbers of a vector are never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Count, Q, QuerySet

from crewsite.embeddings.models import Space, Vector
from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin

if TYPE_CHECKING:
    from django.http import HttpRequest


@admin.register(Space)
class SpaceAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["model_id", "dim", "status", "live_vectors", "last_seq", "created_at", "signature"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Space]:
        live = Count("vectors", filter=Q(vectors__data__isnull=False))
        spaces: QuerySet[Space] = super().get_queryset(request)
        return spaces.annotate(live=live)

    @admin.display(description="Vectors", ordering="live")
    def live_vectors(self, space: Space) -> int:
        return int(getattr(space, "live", 0))


@admin.register(Vector)
class VectorAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["id", "collection", "object_id", "space", "state", "seq"]
    list_filter = ["space"]
    list_select_related = ["space"]
    search_fields = ["collection"]
    ordering = ["-id"]
    exclude = ["data"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Vector]:
        present = Q(data__isnull=False)
        vectors: QuerySet[Vector] = super().get_queryset(request)
        return vectors.defer("data").annotate(present=present)

    @admin.display(description="State")
    def state(self, vector: Vector) -> str:
        return "stored" if getattr(vector, "present", False) else "dropped"
