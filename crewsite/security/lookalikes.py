"""Characters that look like others or like nothing. Data only; what NFKC undoes by itself is not listed.

The letters follow the confusables of Unicode Technical Standard 39 that read as Latin lower case.
"""

from __future__ import annotations

from typing import Final

# Invisible though their category is a letter or a mark: Hangul fillers, Khmer inherent vowels.
INVISIBLE: Final = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")

_GROUPS: Final = {
    # Cyrillic, Greek, Armenian, small capitals and hooked forms, in that order.
    "a": "\u0430\u03b1\u0251\u1d00",
    "b": "\u0432\u044c\u03b2\u0299\u0253",
    "c": "\u0441\u03f2\u1d04\u0188",
    "d": "\u0501\u1d05\u0257\u0256\u0111\u00f0",
    "e": "\u0435\u0454\u03b5\u025b\u1d07\u212e",
    "f": "\u0192\ua730\u017f",
    "g": "\u050d\u0581\u0261\u0262\u0260",
    "h": "\u04bb\u043d\u0570\u029c\u0127\u0266",
    "i": "\u0456\u03b9\u026a\u0269\u0131\u04cf",
    "j": "\u0458\u03f3\u0575\u1d0a",
    "k": "\u043a\u03ba\u049b\u1d0b\u0138\u0199",
    "l": "\u029f\u0142\u026d\u01c0",
    "m": "\u043c\u1d0d\u028d\u0271",
    "n": "\u043f\u03b7\u0578\u057c\u0274\u014b\u0272",
    "o": "\u043e\u03bf\u03c3\u0585\u1d0f\u00f8\u0275",
    "p": "\u0440\u03c1\u03f8\u1d18\u00fe",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u0280\u027c",
    "s": "\u0455\ua731\u0282",
    "t": "\u0442\u03c4\u1d1b\u0167\u01ad",
    "u": "\u057d\u03c5\u1d1c\u028b",
    "v": "\u0475\u03bd\u1d20",
    "w": "\u051d\u03c9\u0561\u1d21",
    "x": "\u0445\u03c7\u00d7\u04b3",
    "y": "\u0443\u04af\u03b3\u028f",
    "z": "\u1d22\u0290\u01b6",
    "ae": "\u00e6",
    "oe": "\u0153",
    "ss": "\u00df",
    "'": "\u2018\u2019\u201a\u201b\u2032\u02bc\u02bb\u00b4",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    "|": "\u2502\u2503\u2223\u01c1",
    "_": "\u2581",
    ":": "\ua789\u2236\u02d0",
    # Brackets a model reads as one of ours.
    "[": "\u3010\u3014\u3016\u3018\u301a\u27e6\u2772\u2045\u300c",
    "]": "\u3011\u3015\u3017\u3019\u301b\u27e7\u2773\u2046\u300d",
    "<": "\u2039\u3008\u27e8\u2329\u276c\u2770\u02c2",
    ">": "\u203a\u3009\u27e9\u232a\u276d\u2771\u02c3",
    "<<": "\u226a\u300a\u27ea",
    ">>": "\u226b\u300b\u27eb",
    "<<<": "\u22d8",
    ">>>": "\u22d9",
}

# Negative circled and squared letters have no compatibility form, unlike the plain circled ones.
_ENCLOSED_STARTS: Final = (0x1F150, 0x1F170, 0x1F1E6)

LOOKALIKES: Final[dict[str, str]] = {
    **{char: latin for latin, chars in _GROUPS.items() for char in chars},
    **{chr(start + n): chr(ord("a") + n) for start in _ENCLOSED_STARTS for n in range(26)},
}
