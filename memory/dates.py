"""Dates that a question names, and whether something happened then. Pure; relative words ("last week") are
left to whoever knows when the question was asked.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from memory.constants import TOLD_AFTER_DAYS, TOLD_BEFORE_DAYS

# English, French, German, Spanish, Portuguese, Italian; folded, with their abbreviations.
_NAMES: Final = (
    "january jan janvier januar enero janeiro gennaio",
    "february feb février fevrier februar febrero fevereiro febbraio",
    "march mars märz maerz marzo março marco",
    "april apr avril abril aprile",
    "may mai mayo maio maggio",
    "june jun juin juni junio junho giugno",
    "july jul juillet juli julio julho luglio",
    "august aug août aout agosto",
    "september sept septembre septiembre setembro settembre",
    "october oct octobre oktober octubre outubro ottobre",
    "november nov novembre noviembre novembro",
    "december dec décembre decembre dezember diciembre dezembro dicembre",
)
MONTHS: Final = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
# Names that are common words as well; they count only beside a number or after a word that leads to a date.
_AMBIGUOUS: Final = frozenset({"may", "march", "mars", "marco", "mai", "jun", "jan", "sept", "june", "april"})
_LEADS: Final = frozenset(
    {"in", "of", "since", "until", "till", "before", "after", "during", "by", "early", "late", "mid"}
    | {"en", "le", "de", "im", "am", "seit", "vom", "desde", "em", "del", "di"}
)
_WORD: Final = re.compile(r"\w+")
_ISO: Final = re.compile(r"\b(\d{4})-(\d{1,2})(?:-(\d{1,2}))?\b")
# 5/7/2023 is the fifth of July to most of the world and the seventh of May to Americans.
_SLASHED: Final = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")
_DOTTED: Final = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.]*\d)")
_EAST_ASIAN: Final = re.compile(
    r"(?:(\d{4})\s*[年년]\s*)?(?<!\d)(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日일])?"
)
_DAY: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|ª)?")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_LINKS: Final = frozenset({"of", "de", "the", "di"})


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A month, with day and year where they were said."""

    month: int
    day: int | None = None
    year: int | None = None

    def covers(self, date: dt.date) -> bool:
        """Whether something told on `date` may be about this time: people tell of what happened some days
        ago, and now and then of what is about to come.
        """
        years = (self.year,) if self.year is not None else (date.year - 1, date.year, date.year + 1)
        return any(_told_about(date, *span) for year in years if (span := self._span(year)) is not None)

    def _span(self, year: int) -> tuple[dt.date, dt.date] | None:
        try:
            first = dt.date(year, self.month, self.day or 1)
        except ValueError:
            return None
        if self.day is not None:
            return first, first
        return first, first.replace(day=calendar.monthrange(year, self.month)[1])


def _told_about(date: dt.date, first: dt.date, last: dt.date) -> bool:
    return (date - first).days >= -TOLD_BEFORE_DAYS and (date - last).days <= TOLD_AFTER_DAYS


def named_dates(question: str) -> tuple[NamedDate, ...]:
    """Every date a question names by its month, in words or figures: 2023-05, 2023-05-07, 7.5.2023, 7/5/2023
    (read both ways), 2023年5月7日.
    """
    found = [_dated(*match.groups()) for match in (*_ISO.finditer(question), *_EAST_ASIAN.finditer(question))]
    for first, second, year in (match.groups() for match in _SLASHED.finditer(question)):
        found += [_dated(year, second, first), _dated(year, first, second)]
    found += [_dated(*reversed(match.groups())) for match in _DOTTED.finditer(question)]
    words = _WORD.findall(question.casefold())
    found += [_spelled(words, place) for place, word in enumerate(words) if word in MONTHS]
    return tuple(dict.fromkeys(named for named in found if named is not None))


def _dated(year: str | None, month: str, day: str | None) -> NamedDate | None:
    if not 1 <= int(month) <= len(_NAMES):
        return None
    return NamedDate(int(month), int(day) if day else None, int(year) if year else None)


def _spelled(words: Sequence[str], place: int) -> NamedDate | None:
    before, after = list(reversed(words[max(0, place - 2) : place])), words[place + 1 : place + 3]
    if before and before[0] in _LINKS and len(before) > 1 and _number(before[1]):
        before = before[1:]
    day = _number(before[0]) if before else None
    rest = after
    if day is None and after and (day := _number(after[0])) is not None:
        rest = after[1:]
    rest = rest[1:] if rest and rest[0] in _LINKS else rest
    year = int(rest[0]) if rest and _YEAR.fullmatch(rest[0]) else None
    is_led = bool(before) and before[0] in _LEADS
    if words[place] in _AMBIGUOUS and day is None and year is None and not is_led:
        return None
    return NamedDate(MONTHS[words[place]], day, year)


def _number(word: str) -> int | None:
    """A day of a month: 7, 7th."""
    match = _DAY.fullmatch(word)
    return int(match[1]) if match and 1 <= int(match[1]) <= 31 else None  # noqa: PLR2004 - days of a month
