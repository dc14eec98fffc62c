"""A look at what is searched, for operators. Documents follow their rows; nobody edits them here."""

from __future__ import annotations

from django.contrib import admin

from crewsite.rows_admin import OperatorOnlyMixin, ReadOnlyModelAdmin
from crewsite.search.models import Document


@admin.register(Document)
class DocumentAdmin(OperatorOnlyMixin, ReadOnlyModelAdmin):
    list_display = ["collection", "object_id", "excerpt"]
    search_fields = ["collection", "text"]
    ordering = ["-id"]
    show_full_result_count = False

    @admin.display(description="Text")
    def excerpt(self, document: Document) -> str:
        return document.text[:100]
