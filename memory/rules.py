"""What a key, a value, a text, an importance and a tag may be.
Pure; each check names the rule it refuses by.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crewsite.security.text import clean, fold
from memory.constants import (
    DEFAULT_IMPORTANCE,
    KEY_MAX_CHARS,
    KEY_PATTERN,
    KEY_PREFIXES,
    KEY_RESERVED_PREFIX,
    MAX_TAGS,
    MIN_CONFIDENCE,
    TAG_PATTERN,
    TEXT_MAX_CHARS,
    TEXT_MIN_CHARS,
    VALUE_MAX_BYTES,
    VALUE_MAX_DEPTH,
)
from memory.results import Refusal

Json = Any
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"  # letters and a sign by their category, blanks to the eye


def key_refusal(key: Any, *, extra_prefixes: Sequence[str] = ()) -> Refusal | None:
    """Why this is no key, or None when it is one."""
    if not isinstance(key, str):
        return Refusal("key_format", "A key is text.")
    if len(key) > KEY_MAX_CHARS:
        return Refusal(
            "key_length", f"A key has at most {KEY_MAX_CHARS} characters; this one has {len(key)}."
        )
    if not KEY_PATTERN.fullmatch(key):
        return Refusal(
            "key_format",
            "A key is small letters, digits, dots and underscores; it starts with a letter, and ends with"
            " a letter or digit.",
        )
    if ".." in key:
        return Refusal("key_format", "A key has no empty part between two dots.")
    if key.startswith(KEY_RESERVED_PREFIX):
        return Refusal(
            "key_prefix", f"Keys under {KEY_RESERVED_PREFIX} belong to lessons; teach a lesson instead."
        )
    allowed = (*KEY_PREFIXES, *extra_prefixes)
    if not any(key.startswith(prefix) and len(key) > len(prefix) for prefix in allowed):
        return Refusal("key_prefix", f"A key starts with one of these: {' '.join(allowed)}")
    return None


def parse_prefixes(text: str) -> tuple[str, ...]:
    """Further key prefixes from their live setting; entries that could never begin a key are left out."""
    parts = (part.strip() for part in text.split(","))
    return tuple(part for part in parts if part.endswith(".") and KEY_PATTERN.fullmatch(part + "a"))


def clean_value(value: Json) -> Json:
    """The value with every text in it, keys included, made storable.
    Raises RecursionError on absurd nesting.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: clean_value(item) for key, item in value.items()}
    return value


def merged_keys_refusal(value: Json, cleaned: Json) -> Refusal | None:
    """Cleaning makes one key of two that differ in what no text keeps: one of two values would be lost."""
    if _size(value) == _size(cleaned):
        return None
    return Refusal(
        "value_keys", "Two keys of one object are the same once what cannot be stored is taken out of them."
    )


def _size(value: Json) -> int:
    """The number of lists' and objects' members in all."""
    if isinstance(value, dict):
        return len(value) + sum(map(_size, value.values()))
    return len(value) + sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def value_refusal(value: Json) -> Refusal | None:
    """Why this value cannot be kept, or None. The size is that of its compact JSON in UTF-8."""
    if _is_deeper(value, VALUE_MAX_DEPTH):
        return Refusal(
            "value_depth", f"A value has at most {VALUE_MAX_DEPTH} lists and objects inside each other."
        )
    try:
        encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError):
        encoded = None
    if encoded is None or not _has_only_text_keys(value):
        return Refusal(
            "value_not_json", "A value is JSON: text, numbers, true or false, lists and objects of these."
        )
    if value is None or (isinstance(value, str) and not value.strip()):
        return Refusal("value_empty", "A value is not empty; delete the key instead.")
    if len(encoded) > VALUE_MAX_BYTES:
        return Refusal(
            "value_size",
            f"A value has at most {VALUE_MAX_BYTES:,} bytes as JSON, which puts a text in two quotes;"
            f" this one has {len(encoded):,}.",
        )
    return None


def _is_deeper(value: Json, levels: int) -> bool:
    """Whether more than `levels` lists and objects stand inside each other. Looks no deeper than that."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else None
    return inner is not None and (levels == 0 or any(_is_deeper(item, levels - 1) for item in inner))


def _has_only_text_keys(value: Json) -> bool:
    """Python's encoder turns other keys into text, where two may become one."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _has_only_text_keys(item) for key, item in value.items())
    return not isinstance(value, list | tuple) or all(map(_has_only_text_keys, value))


def confidence_refusal(confidence: float, *, is_explicit: bool) -> Refusal | None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        return Refusal("confidence_range", "A confidence is a number from 0 to 1.")
    if not is_explicit and confidence < MIN_CONFIDENCE:
        return Refusal(
            "low_confidence",
            f"What no person asked for needs a confidence of {MIN_CONFIDENCE}; this has {confidence:g}.",
        )
    return None


def parse_value(value: Any) -> Any:
    """A value that is the JSON of a list, object, number or truth value as such; any other text as text.

    A number counts as one only if it would be written just so: version 3.10 is not 3.1.
    """
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    is_number = isinstance(parsed, int | float) and not isinstance(parsed, bool)
    if parsed is None or (is_number and repr(parsed) != value.strip()):
        return value
    return parsed


def value_words(value: Json) -> str:
    """A value as people read it: `Tuesday, Thursday` and `uptime 99.9 % · hours 24/7`."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value:
        return " · ".join(f"{key} {value_words(item)}" for key, item in value.items())
    if isinstance(value, list | tuple) and value:
        between = "; " if any(isinstance(item, dict | list | tuple) for item in value) else ", "
        return between.join(map(value_words, value))
    return json.dumps(value)


def render_value(value: Json) -> str:
    """A value as words, for the index, for screening and for quoting:
    lists and objects flattened, keys kept.
    """
    return " ".join(_words_of(value))


def _words_of(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        yield json.dumps(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{key}:"  # as it is written, so that a password is known by its name
            yield from _words_of(item)
    else:
        yield str(value)


def key_words(key: str) -> str:
    return key.replace(".", " ").replace("_", " ")


def same_value(one: Json, other: Json) -> bool:
    """Equal after case and Unicode folding of every text in them; 1 and true stay different."""
    return bool(_folded(one) == _folded(other))


def _folded(value: Json) -> Json:
    if isinstance(value, str):
        return ("text", fold(value))
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list | tuple):
        return [_folded(item) for item in value]
    if isinstance(value, dict):
        # In pairs: two keys may fold into one, and both their values count.
        pairs = sorted(value.items(), key=lambda pair: (fold(str(pair[0])), str(pair[0])))
        return ("object", [(fold(str(key)), _folded(item)) for key, item in pairs])
    return value


def text_refusal(text: str) -> Refusal | None:
    """Why a cleaned, trimmed text is no episode, or None."""
    if len(text) < TEXT_MIN_CHARS:
        return Refusal(
            "text_short", f"An episode has at least {TEXT_MIN_CHARS} characters; this one has {len(text)}."
        )
    if len(text) > TEXT_MAX_CHARS:
        return Refusal(
            "text_long", f"An episode has at most {TEXT_MAX_CHARS} characters; this one has {len(text)}."
        )
    if not any(map(_is_seen, text)):
        return Refusal("text_short", "An episode has characters that can be seen; this one has none.")
    return None


def _is_seen(char: str) -> bool:
    """Not a blank, a format character, or a mark that needs a letter to stand on."""
    return unicodedata.category(char)[0] not in "ZCM" and char not in _BLANK_LETTERS


def importance_refusal(importance: Any) -> Refusal | None:
    """Out of range is clamped; what is no number at all says nothing, and is told so. None is the default."""
    is_number = isinstance(importance, int) or (isinstance(importance, float) and not math.isnan(importance))
    if importance is None or is_number:
        return None
    return Refusal("importance_range", "An importance is a number from 0 to 1.")


def moment_refusal(moment: dt.datetime) -> Refusal | None:
    """The calendar ends with the years 1 and 9999, and every zone must have a day for it."""
    try:
        _ = moment.astimezone(dt.UTC) - dt.timedelta(days=1), moment.astimezone(dt.UTC) + dt.timedelta(days=1)
    except OverflowError:
        return Refusal(
            "created_at_range", "The time is too near the end of the years 1 to 9999, or beyond it."
        )
    return None


def clamp_importance(importance: Any) -> float:
    """0..1; what is no number counts as the default."""
    if not isinstance(importance, int | float) or (isinstance(importance, float) and math.isnan(importance)):
        return DEFAULT_IMPORTANCE
    return float(min(1, max(0, importance)))


@dataclass(frozen=True, slots=True)
class Tags:
    kept: tuple[str, ...]
    dropped: tuple[str, ...]


def tags_of(tags: Iterable[str] | str | None) -> Tags:
    """Folded, without duplicates, at most ten; a text is a list with commas or blanks.
    `dropped` lists as given those that are no tags or are too many.
    """
    tags = tags.replace(",", " ").split() if isinstance(tags, str) else tags or ()
    kept: list[str] = []
    dropped: list[str] = []
    for raw in tags:
        tag = fold(unicodedata.normalize("NFKC", str(raw)))
        if tag in kept:
            continue
        if TAG_PATTERN.fullmatch(tag) and len(kept) < MAX_TAGS:
            kept.append(tag)
        else:
            dropped.append(str(raw))
    return Tags(tuple(kept), tuple(dropped))
