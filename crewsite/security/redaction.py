"""Takes credentials, and addresses that carry data, out of a text. What counts as one is said elsewhere."""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from crewsite.security.constants import (
    ENCODED_RUN_CHARS,
    REDACTION_ROUNDS,
    SNIPPET_CHARS,
    SNIPPET_SOURCE_CHARS,
)
from crewsite.security.credentials import Found, credentials_in, merged, spoken_passwords
from crewsite.security.exfiltration import exfiltration_urls
from crewsite.security.shadow import plain_shadow

_ENCODED_RUN: Final = re.compile(rf"[A-Za-z0-9+/_-]{{{ENCODED_RUN_CHARS},}}={{0,2}}")
# A run is decoded from each of its first four characters: a prefix may shift what follows.
_ALIGNMENTS: Final = 4
# Shorter than this no credential is; random bytes hardly ever read as text for so long.
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{14,}")
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Redacted:
    """`found` counts the replacements by family; it never holds what was replaced."""

    text: str
    found: dict[str, int] = field(default_factory=dict)


class _Replacement(NamedTuple):
    start: int
    end: int
    family: str
    host: str

    @property
    def label(self) -> str:
        return f"[REDACTED:{self.family} host={self.host}]" if self.host else f"[REDACTED:{self.family}]"


def redact(text: str) -> Redacted:
    """`text` with each hit as `[REDACTED:<family>]`. Afterwards no family is found: a second pass is idle."""
    counts: Counter[str] = Counter()
    for _ in range(REDACTION_ROUNDS):
        replacements = _replacements(text)
        if not replacements:
            break
        counts.update(item.family for item in replacements)
        text = _replaced(text, replacements)
    return Redacted(text, dict(counts))


def redact_all(value: Any) -> Any:
    """What JSON can say, with every text in it redacted."""
    match value:
        case str():
            return redact(value).text
        case dict():
            return {name: redact_all(item) for name, item in value.items()}
        case list() | tuple():
            return [redact_all(item) for item in value]
        case _:
            return value


def credential_families(text: str) -> tuple[str, ...]:
    """The families of credentials in a text, sorted. A suspicious address alone is none."""
    return tuple(sorted({found.family for found in _all_credentials(plain_shadow(text).text)}))


def tells_secret(text: str) -> bool:
    """Whether a text gives a password away in plain words. No reason to redact it, one not to keep it."""
    return next(spoken_passwords(plain_shadow(text).text), None) is not None


def snippet(text: str) -> str:
    """The start of a refused text as an audit event may show it: redacted, one line, at most 200 chars."""
    text = text[:SNIPPET_SOURCE_CHARS]
    shadow = plain_shadow(text)
    spoken = [
        _Replacement(*shadow.span(item.start, item.end), item.family, "")
        for item in spoken_passwords(shadow.text)
    ]
    line = _BLANKS.sub(" ", redact(_replaced(text, spoken)).text).strip()
    return line if len(line) <= SNIPPET_CHARS else f"{line[: SNIPPET_CHARS - 1]}…"


def _replacements(text: str) -> list[_Replacement]:
    shadow = plain_shadow(text)
    credentials = _all_credentials(shadow.text)
    urls = list(exfiltration_urls(shadow.text, credentials))
    hosts = {(url.start, url.end): host for url, host in urls}
    # An address that carries a credential goes as a whole, with the credential.
    return [
        _Replacement(*shadow.span(item.start, item.end), item.family, hosts.get((item.start, item.end), ""))
        for item in merged([*(url for url, _ in urls), *credentials])
    ]


def _replaced(text: str, replacements: list[_Replacement]) -> str:
    pieces: list[str] = []
    done = 0
    for item in replacements:
        pieces += [text[done : item.start], item.label]
        done = item.end
    return "".join([*pieces, text[done:]])


def _all_credentials(text: str) -> list[Found]:
    plain = merged(credentials_in(text))
    return [*plain, *_encoded(text, plain)]


def _encoded(text: str, plain: list[Found]) -> Iterator[Found]:
    """Base64 of any credential, as whole runs. One that overlaps a credential waits for the next pass."""
    places = iter(plain)
    place = next(places, None)
    for run in _ENCODED_RUN.finditer(text):
        while place and place.end <= run.start():
            place = next(places, None)
        if place and place.start < run.end():
            continue
        letters = run[0].rstrip("=").replace("-", "+").replace("_", "/")
        if any(_decodes_to_credential(letters[shift:]) for shift in range(_ALIGNMENTS)):
            yield Found(*run.span(), "base64")


def _decodes_to_credential(letters: str) -> bool:
    if len(letters) % 4 == 1:
        letters = letters[:-1]
    decoded = base64.b64decode(letters + "=" * (-len(letters) % 4))
    readable = b"\n".join(_READABLE.findall(decoded)).decode("ascii")
    return bool(readable) and next(credentials_in(readable), None) is not None
