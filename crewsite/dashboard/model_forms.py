"""The forms of the page Models: a connection, and who plays which role. What is allowed is the services' to
say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError

from crewsite.llm.connections import connection_save, roles_save
from crewsite.llm.constants import ROLES
from crewsite.llm.models import Connection
from crewsite.llm.targets import role_setting

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY_MAX_CHARS = 2_000


class ConnectionForm(forms.Form):
    name = forms.CharField(max_length=60)
    provider = forms.ChoiceField(choices=Connection.Provider.choices)
    base_url = forms.CharField(max_length=500, required=False)
    model = forms.CharField(max_length=500)
    api_key = forms.CharField(max_length=KEY_MAX_CHARS, required=False)
    forget_key = forms.BooleanField(required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, connection: Connection) -> None:
        shown = {name: getattr(connection, name) for name in ("name", "provider", "base_url", "model")}
        super().__init__(data, initial=shown)
        self.connection = connection

    def save(self) -> Connection | None:
        """None, with the reasons at their fields, when it was refused."""
        if not self.is_valid():
            return None
        try:
            return connection_save(connection=self.connection, **self.cleaned_data)
        except ValidationError as refused:
            _show(self, refused)
            return None


class RolesForm(forms.Form):
    default = forms.CharField(max_length=600, required=False, label="Answers")
    smol = forms.CharField(max_length=600, required=False, label="Small jobs")
    judge = forms.CharField(max_length=600, required=False, label="Judges")

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial={role: role_setting(role) for role in ROLES})

    def save(self) -> bool:
        if not self.is_valid():
            return False
        try:
            roles_save(roles=self.cleaned_data)
        except ValidationError as refused:
            _show(self, refused)
            return False
        return True


def _show(form: forms.Form, refused: ValidationError) -> None:
    for field, texts in refused.message_dict.items():
        for text in texts:
            form.add_error(field if field in form.fields else None, text)
