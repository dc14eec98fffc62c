"""The forms of the dashboard: what to preview the context packet for, and a workspace's instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django import forms

from crewsite.accounts.instructions import INSTRUCTIONS_MAX_CHARS
from crewsite.accounts.models import Workspace
from crewsite.conversations.models import Conversation

if TYPE_CHECKING:
    from crewsite.accounts.models import User, WorkspaceQuerySet

WINDOWS: Final = (
    ("", "That of its model"),
    (1_000_000, "1M tokens"),
    (500_000, "500k tokens"),
    (200_000, "200k tokens"),
    (32_000, "32k tokens"),
)
RECENT_CONVERSATIONS: Final = 50
MAX_TEXT_CHARS: Final = 100_000  # the longest message chat accepts (chapter 05, 5.2)


class PreviewForm(forms.Form):
    q = forms.CharField(required=False, max_length=MAX_TEXT_CHARS)
    window = forms.TypedChoiceField(choices=WINDOWS, coerce=int, required=False)
    conversation = forms.ModelChoiceField(queryset=Conversation.objects.none(), required=False)

    def __init__(self, *args: Any, user: User, workspace: Workspace, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Conversation.objects.for_user(user).filter(workspace=workspace)
        self.fields["conversation"].queryset = mine  # type: ignore[attr-defined]
        self.fields["window"].empty_value = None  # type: ignore[attr-defined]
        self.recent = list(mine.current()[:RECENT_CONVERSATIONS])


class InstructionsForm(forms.Form):
    workspace = forms.ModelChoiceField(queryset=Workspace.objects.none())
    steering = forms.CharField(required=False, max_length=INSTRUCTIONS_MAX_CHARS)
    agent_prompt = forms.CharField(required=False, max_length=INSTRUCTIONS_MAX_CHARS)

    def __init__(self, *args: Any, workspaces: WorkspaceQuerySet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["workspace"].queryset = workspaces  # type: ignore[attr-defined]
