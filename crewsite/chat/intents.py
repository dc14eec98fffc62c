"""Finds explicit requests to remember something, in English, French, German, Spanish and Portuguese. Pure
text; what is done about one is decided elsewhere. Careful rather than eager: a question or a remark about
oneself is no request."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["rule", "fact", "episode"]
MAX_REQUEST_CHARS: Final = 2_000  # an episode's length; longer messages are texts, not requests
KEY_SLUG_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class Intent:
    """`rule` becomes a lesson, `fact` a value under `key`, `episode` a piece of text. `category` is for
    lessons."""

    kind: Kind
    text: str
    key: str = ""
    value: str = ""
    category: str = "knowledge"


# Asking to remember. Group `to` tells a rule ("remember to ...") from a statement ("remember that ...").
_ASKING = [
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        (
            r"(?:please,?\s+)?(?P<polite>(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
            r"(?:remember|memori[sz]e|keep\s+in\s+mind|don['’]?t\s+forget|do\s+not\s+forget)\b[\s,:]*"
            r"(?:(?P<to>to)\b|that\b)?[\s,:]*(?P<body>.+)"
        ),
        (
            r"(?:s['’]il\s+(?:te|vous)\s+pla[iî]t,?\s+)?(?:souviens[- ]toi|souvenez[- ]vous|rappelle[- ]toi|"
            r"rappelez[- ]vous|n['’]oubliez?\s+pas|retiens|retenez|m[ée]morisez?)\b[\s,:]*"
            r"(?:(?P<to>de\s|d['’])|que\b|qu['’])?[\s,:]*(?P<body>.+)"
        ),
        (
            r"(?:bitte\s+)?(?:merke?\s+dir|merken\s+sie\s+sich|denke?\s+daran|vergiss\s+nicht|"
            r"vergessen\s+sie\s+nicht)(?:\s+bitte)?[\s,:]*(?:dass\b)?[\s,:]*(?P<body>.+)"
        ),
        (
            r"(?:por\s+favor,?\s+)?(?:recuerda|recuerde|acu[ée]rdate|no\s+(?:te\s+)?olvides|ten\s+en\s+cuenta|"
            r"memoriza)\b[\s,:]*(?:de\s+que\b|que\b|(?P<to>de\s))?[\s,:]*(?P<body>.+)"
        ),
        (
            r"(?:por\s+favor,?\s+)?(?:lembra[- ]te|lembre[- ]se|lembra|lembre|"
            r"n[ãa]o\s+(?:te\s+|se\s+)?esque[çc]as?|memori[sz][ae])\b[\s,:]*"
            r"(?:de\s+que\b|que\b|(?P<to>de\s))?[\s,:]*(?P<body>.+)"
        ),
    )
]

# Standing orders. The first group is left out of the rule; the second list keeps the word, which is the
# rule's point.
_FROM_NOW_ON = re.compile(
    r"(?:from\s+now\s+on|going\s+forward|[àa]\s+partir\s+de\s+maintenant|d[ée]sormais|dor[ée]navant|ab\s+jetzt|ab\s+sofort|"
    r"von\s+nun\s+an|a\s+partir\s+de\s+(?:ahora|agora)|de\s+ahora\s+en\s+adelante|de\s+agora\s+em\s+diante|"
    r"daqui\s+em\s+diante)\b[\s,:]*(?P<body>.+)",
    re.IGNORECASE | re.DOTALL,
)
_STANDING = re.compile(
    r"(?:please,?\s+|bitte\s+|por\s+favor,?\s+|you\s+(?:should|must)\s+)?"
    r"(?:(?:always|never)\b(?!\s+mind)|toujours\b|ne\s+(?:\w+\s+){1,2}jamais\b|jamais\b|immer\b|nie\b|niemals\b|"
    r"siempre\b|nunca\b|jam[áa]s\b|sempre\b)\s+\w+",
    re.IGNORECASE,
)
# "Utilise toujours", "verwende immer", "usa siempre", "usa sempre": a verb first, but no person speaking of
# themselves.
_VERB_FIRST = re.compile(
    r"(?P<verb>[^\W\d]+)\s+(?:toujours|immer|nie|niemals|siempre|nunca|sempre)\s+\w+", re.IGNORECASE
)
_PERSON_WORDS: Final = """
    i we he she they it you ich wir er sie es ihr du je nous il elle on tu vous yo nosotros él ella
    ellos eu nós ele ela eles the der die das le la les el los las o a os as un une ein eine hat
    habe haben ist sind war está é est sont
"""
_PERSONS: Final = frozenset(_PERSON_WORDS.split())
_IMPERATIVES: Final = """
    use prefer avoid write run keep dont do call answer reply speak stop name format add make put
    start check test ask explain show give utilise utilisez évite réponds écris verwende benutze
    nutze vermeide antworte schreib schreibe usa utiliza evita responde escribe utilize evite
    responda escreva
"""
_ORDER_WORDS: Final = frozenset(_IMPERATIVES.split())
_MUST = re.compile(
    r"\b(?:must|should|need to|has to|doit|doivent|muss|müssen|soll|debe|deben|deve|devem)\b", re.I
)
_LIKING = re.compile(
    r"(?:i|we)\s+(?:prefer|like|love|want|hate|dislike)\b|je\s+préfère|ich\s+(?:mag|bevorzuge)|prefiero|"
    r"eu\s+prefiro|prefiro",
    re.IGNORECASE,
)
_MEMORIES = re.compile(
    r"(?:when|what|how|if|why|who|where|which|the time|me\b|this\b|it\b|quand|wie|cuando|quando)", re.I
)
_MY = [
    ("user", re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for pattern in (
        r"my\s+(?P<name>.{1,60}?)\s+(?:is|are)\s+(?:(?:called|named)\s+)?(?P<value>.+)",
        r"(?:mon|ma|mes)\s+(?P<name>.{1,60}?)\s+(?:est|sont|s['’]appelle)\s+(?P<value>.+)",
        r"meine?\s+(?P<name>.{1,60}?)\s+(?:ist|sind|heißt)\s+(?P<value>.+)",
        r"mis?\s+(?P<name>.{1,60}?)\s+(?:es|son|está|se\s+llama)\s+(?P<value>.+)",
        r"(?:o\s+meu|a\s+minha|meu|minha)\s+(?P<name>.{1,60}?)\s+(?:é|são|fica|se\s+chama)\s+(?P<value>.+)",
    )
] + [
    (
        "project",
        re.compile(
            r"(?:our|the\s+project['’]?s?)\s+(?P<name>.{1,60}?)\s+(?:is|are)\s+(?:(?:called|named)\s+)?(?P<value>.+)",
            re.I | re.S,
        ),
    )
]


def detect(message: str) -> Intent | None:
    """The request in a message, or None. `Remember to always use pytest.` is the rule `always use pytest`."""
    text = message.strip()
    if not text or len(text) > MAX_REQUEST_CHARS:
        return None
    for pattern in _ASKING:
        match = pattern.match(text)
        if match:
            return _asked(match, is_question=text.endswith("?"))
    if text.endswith("?"):
        return None
    match = _FROM_NOW_ON.match(text)
    if match:
        return Intent("rule", _trimmed(match["body"]))
    return Intent("rule", _trimmed(text)) if is_standing_order(text) else None


def classify(body: str) -> Intent:
    """What a text that shall be kept is: an order, a named fact, or a piece of text."""
    text = _trimmed(body)
    match = _FROM_NOW_ON.match(text)
    if match:
        return Intent("rule", _trimmed(match["body"]))
    if _LIKING.match(text):
        return Intent("rule", text, category="preference")
    first = re.split(r"\W", text.lower().replace("don't", "dont"), maxsplit=1)[0]
    if is_standing_order(text) or first in _ORDER_WORDS or _MUST.search(text):
        return Intent("rule", text)
    for prefix, pattern in _MY:
        named = pattern.fullmatch(text)
        if named and (slug := _slug(named["name"])):
            return Intent("fact", text, key=f"{prefix}.{slug}", value=_trimmed(named["value"]))
    return Intent("episode", text)


def is_standing_order(text: str) -> bool:
    if _STANDING.match(text):
        return True
    match = _VERB_FIRST.match(text)
    return match is not None and match["verb"].lower() not in _PERSONS


def _asked(match: re.Match[str], *, is_question: bool) -> Intent | None:
    groups = match.groupdict()
    body = _trimmed(groups["body"])
    if not body or (is_question and not (groups.get("polite") and groups.get("to"))):
        return None
    if groups.get("to"):
        return Intent("rule", body)
    return None if _MEMORIES.match(body) else classify(body)


def _trimmed(text: str) -> str:
    """Without the blanks and the end mark of the sentence it was taken from."""
    return " ".join(text.split()).rstrip(" .!?")


def _slug(name: str) -> str:
    """`favourite editor` as `favourite_editor`: what a key may hold. Empty where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:KEY_SLUG_CHARS].strip("_")
