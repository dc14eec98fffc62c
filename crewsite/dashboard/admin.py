"""The page of live settings in admin: one field under another, and the same bounds as in every other door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constance.admin import Config, ConstanceAdmin, ConstanceForm
from django import forms
from django.conf import settings
from django.contrib import admin
from django.template.response import TemplateResponse

from crewsite.rows_admin import OperatorOnlyMixin
from crewsite.settings.live import CONSTANCE_LABELS
from crewsite.settings.live_rules import MAX_CHARS, MAX_NUMBER, SettingRefused, setting_read, setting_type

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

TITLE = "Live settings"


class LiveSettingsForm(ConstanceForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name in settings.CONSTANCE_CONFIG:
                field.label = CONSTANCE_LABELS[name]
                field.widget = _widget(name)
                field.widget.is_required = False
                field.widget.attrs["aria-describedby"] = f"{name}-help"

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()
        for name in list(cleaned):
            if name in settings.CONSTANCE_CONFIG:
                try:
                    setting_read(name, str(cleaned[name]))
                except SettingRefused as refused:
                    self.add_error(name, str(refused))
        return cleaned


class LiveSettingsAdmin(OperatorOnlyMixin, ConstanceAdmin):
    change_list_form = LiveSettingsForm

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        page: HttpResponse = super().changelist_view(request, extra_context)
        if isinstance(page, TemplateResponse) and page.context_data is not None:
            # Without `opts` the head of the page says this title and not "Constance > Config".
            page.context_data |= {"title": TITLE, "content_title": TITLE, "opts": None}
        return page


def _widget(name: str) -> forms.Widget:
    kind = setting_type(name)
    if kind is bool:
        return forms.CheckboxInput()
    if kind is str:
        return forms.TextInput(attrs={"maxlength": MAX_CHARS, "autocomplete": "off", "spellcheck": "false"})
    step = "1" if kind is int else "any"
    return forms.NumberInput(attrs={"min": 0, "max": MAX_NUMBER, "step": step})


admin.site.unregister([Config])
admin.site.register([Config], LiveSettingsAdmin)
