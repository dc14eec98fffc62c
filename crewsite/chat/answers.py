"""An answer as HTML, with marks where its tool calls happened. What a card shows is the page's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crewsite.conversations.rendering import render_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.utils.safestring import SafeString


def answer_html(text: str, tool_calls: Sequence[Any]) -> SafeString:
    """One mark for each call that says where it happened, in their order."""
    places = [call.get("at") for call in tool_calls if isinstance(call, dict)]
    return render_markdown(text, marks=sorted(at for at in places if isinstance(at, int)))
