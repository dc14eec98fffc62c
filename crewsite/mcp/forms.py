"""What a person chooses for an agent's token."""

from __future__ import annotations

from django import forms

from crewsite.accounts.constants import TOKEN_NAME_MAX_CHARS
from crewsite.security.text import clean

ACCESS = [("write", "Read and write"), ("read", "Read only")]


class TokenForm(forms.Form):
    # Room for the number that tells two of a name apart.
    name = forms.CharField(max_length=TOKEN_NAME_MAX_CHARS - 10)
    access = forms.ChoiceField(choices=ACCESS)

    def clean_name(self) -> str:
        name = " ".join(clean(self.cleaned_data["name"]).split())
        if not name:
            raise forms.ValidationError("Say what the token is for.")
        return name

    @property
    def scopes(self) -> tuple[str, ...]:
        return ("read", "write") if self.cleaned_data["access"] == "write" else ("read",)
