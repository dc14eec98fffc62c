"""The page of live settings in admin, with a name for each field that a screen reader can say."""

from __future__ import annotations

from typing import Any

from constance.admin import Config, ConstanceAdmin, ConstanceForm
from django.conf import settings
from django.contrib import admin


class LiveSettingsForm(ConstanceForm):
    """The table's own column says what a setting does, in a cell that no label ties to the field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name in settings.CONSTANCE_CONFIG:
                field.widget.attrs["aria-label"] = settings.CONSTANCE_CONFIG[name][1]


class LiveSettingsAdmin(ConstanceAdmin):
    change_list_form = LiveSettingsForm


admin.site.unregister([Config])
admin.site.register([Config], LiveSettingsAdmin)
