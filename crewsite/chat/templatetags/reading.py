"""Filters that put numbers, times and sources into the words people read. No HTML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from django import template
from django.utils import timezone
from django.utils.timesince import timesince

from crewsite.security.origin import Source

if TYPE_CHECKING:
    from datetime import datetime

register = template.Library()

SOURCE_WORDS: Final = {
    Source.USER_EXPLICIT: "said explicitly",
    Source.CONSOLIDATION: "distilled",
    Source.MIGRATION: "migrated",
    Source.IMPORT: "imported",
    Source.TASK: "by a task",
    Source.API: "through the API",
}


# Codes whose words, without the underscores, would still be ours and not a reader's.
CODE_WORDS: Final = {"deduped": "already known", "possibly_supersedes": "possible replacement"}
# A code stands alone; parts of a key, such as `project.on_call`, are not ours.
_CODE: Final = re.compile(r"(?<![\w.])[a-z]+(?:_[a-z]+)+(?![\w.])")


@register.filter
def ago(at: datetime) -> str:
    """The age in its largest unit: `9 hours ago`."""
    now = timezone.now()
    if (now - at).total_seconds() < 60:  # noqa: PLR2004 - a minute is the smallest unit shown
        return "just now"
    return f"{timesince(at, now, depth=1)} ago"


@register.filter
def thousands(number: Any) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)


@register.filter
def plain(code: str) -> str:
    """A code of ours as words: `keyword_only` becomes `keyword only`."""
    return str(code).replace("_", " ")


@register.filter
def event_words(event: str) -> str:
    return CODE_WORDS.get(event) or plain(event)


@register.filter
def reason_words(reason: str) -> str:
    """Why, in words: the code of a refusal is dropped, as the sentence after it says the same."""
    code, _, sentence = str(reason).partition(": ")
    said = sentence if sentence[:1].isupper() and code.replace("_", "").islower() else str(reason)
    return _CODE.sub(lambda found: event_words(found[0]), said)


@register.filter
def source_words(source: str) -> str:
    return SOURCE_WORDS.get(Source(source), source) if source in Source.values else source
