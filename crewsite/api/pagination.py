"""Cursor pages: stable while rows are added, and as fast on the last page as on the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet
    from rest_framework.request import Request


class NewestFirst(CursorPagination):
    ordering: str | tuple[str, ...] = "-id"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"

    def paginate_queryset(
        self, queryset: QuerySet[Any] | Sequence[Any], request: Request, view: Any = None
    ) -> list[Any] | None:
        """A cursor that somebody changed is refused like one that never was."""
        try:
            return super().paginate_queryset(queryset, request, view=view)
        except (ValueError, ValidationError):
            raise NotFound(self.invalid_cursor_message) from None


class LastDeleted(NewestFirst):
    ordering = ("-deleted_at", "-id")


class LatestActivity(NewestFirst):
    ordering = ("-last_activity_at", "-id")


class OldestFirst(NewestFirst):
    ordering = "seq"


class LatestDay(NewestFirst):
    ordering = ("-day", "-time", "-id")
