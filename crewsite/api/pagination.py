"""Cursor pages: stable while rows are added, and as fast on the last page as on the first."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class NewestFirst(CursorPagination):
    ordering: str | tuple[str, ...] = "-id"
    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"


class LatestActivity(NewestFirst):
    ordering = ("-last_activity_at", "-id")


class OldestFirst(NewestFirst):
    ordering = "seq"
