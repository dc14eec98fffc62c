"""The one form in which texts are indexed and questions asked, on every database. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Documents folded in another way are folded anew. Raise the number with any change of `fold`; the other half
# is Python's, whose tables of characters grow.
FOLD: Final = f"1/{unicodedata.unidata_version}"

# Scripts that write words without spaces between them, and Hangul, whose particles hang on to the word: Thai,
# Lao, Tibetan, Myanmar, Hangul jamo, Khmer, kana, bopomofo, Han with its extensions and compatibility forms,
# Hangul.
UNSPACED: Final = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff"
)
# A letter or digit of the other scripts.
SPACED: Final = rf"[^\W{UNSPACED}]"

# What people leave out or cannot see: accents (but й is a letter of its own), vowel signs of Hebrew and
# Arabic, the Arabic stretch, soft hyphens, joiners, direction marks, variants of emoji.
_MARKS: Final = re.compile(
    "(?<![Ии])\u0306|[\u0300-\u0305\u0307-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\u00ad\u200c-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
# Signs that would become letters of the word before them.
_APART: Final = {ord("™"): " ", ord("℠"): " "}
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_SEAM: Final = re.compile(f"(?<=[{UNSPACED}])(?={SPACED})|(?<={SPACED})(?=[{UNSPACED}])")
# Characters that are folded together: plain ones each alone, others with the marks and the parts of a Hangul
# syllable that follow.
_CLUSTER: Final = re.compile(
    r"[\x00-\x7f]+(?![^\x00-\x7f])|[\u1100-\u11ff]+|."
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u3099\u309a\uff9e\uff9f]*",
    re.DOTALL,
)


def plain(text: str) -> str:
    """Without compatibility forms (`ﬃ` is `ffi`, `Ａ` is `A`)."""
    return unicodedata.normalize("NFKC", text.translate(_APART))


def fold(text: str) -> str:
    """Without case, accents and compatibility forms (`ß` is `ss`, `é` is `e`), and with a blank where a word
    of a script with spaces stands in one without."""
    if text.isascii():
        return text.lower()
    folded = _folded(text)
    return _SEAM.sub(" ", folded) if _UNSPACED.search(folded) else folded


def folded_with_places(text: str) -> tuple[str, list[int]]:
    """The folded text without the blanks in between, and for each of its characters, and its end, the place
    in `text` that it comes from. A place never points into a folded character's middle."""
    if text.isascii():
        return text.lower(), list(range(len(text) + 1))
    parts: list[str] = []
    places: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        start, said = cluster.start(), cluster.group()
        if said.isascii():
            parts.append(said.lower())
            places += range(start, cluster.end())
        else:
            parts.append(_folded(said))
            places += [start] * len(parts[-1])
    return "".join(parts), [*places, len(text)]


def _folded(text: str) -> str:
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text.translate(_APART)))
    # Turkish has an i without a dot, and one with it in capitals.
    return unicodedata.normalize("NFC", bare.casefold().replace("ı", "i"))
