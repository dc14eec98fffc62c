"""Finds explicit requests to remember something, in English, French, German, Spanish and Portuguese. Pure
text; what is done about one is decided elsewhere. Careful rather than eager: a question or a remark about
oneself is no request."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from memory.standing_orders import is_order, is_standing_order

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
            r"(?:please,?\s+)?(?:(?P<polite>(?:can|could|would|will)\s+you\s+(?:please\s+)?)|you\s+should\s+|"
            r"i(?:\s+would|['’]d)?\s+(?:want|need|like)\s+you\s+to\s+)?"
            r"(?:remember|memori[sz]e|keep\s+in\s+mind|(?:make|take)\s+(?:a\s+)?note|note(?=\s+that\b)|don['’]?t\s+forget|"
            r"do\s+not\s+forget)\b[\s,:]*(?:(?P<to>to)\b|(?P<that>that)\b|this\s*:)?[\s,:]*(?P<body>.+)"
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

# The same behind what shall be kept: "the door code is 4711, remember that".
_ASKING_AFTER = re.compile(
    r"(?P<body>.+?)(?:[,.;:!]\s*(?:and\s+)?|\s+and\s+)(?:please,?\s+)?(?:remember|keep\s+in\s+mind|don['’]?t\s+forget|note)\s+"
    r"(?:that|this|it)(?:\s+please)?[.!\s]*",
    re.IGNORECASE | re.DOTALL,
)
# What begins like this asks, and tells nothing.
_ASKS = re.compile(
    r"(?:what|who|whose|which|when|where|why|how|tell|show|list|find|search|give|explain|write|do|does|did|is|are|was|were|can|"
    r"could|will|would|should|has|have|had|am)\b",
    re.IGNORECASE,
)

# Standing orders. The first group is left out of the rule; the second list keeps the word, which is the
# rule's point.
_FROM_NOW_ON = re.compile(
    r"(?:from\s+now\s+on|going\s+forward|[àa]\s+partir\s+de\s+maintenant|d[ée]sormais|dor[ée]navant|ab\s+jetzt|ab\s+sofort|"
    r"von\s+nun\s+an|a\s+partir\s+de\s+(?:ahora|agora)|de\s+ahora\s+en\s+adelante|de\s+agora\s+em\s+diante|"
    r"daqui\s+em\s+diante)\b[\s,:]*(?P<body>.+)",
    re.IGNORECASE | re.DOTALL,
)
_MUST = re.compile(
    r"\b(?:must|should|need to|has to|doit|doivent|muss|müssen|soll|debe|deben|deve|devem)\b", re.I
)
_LIKING = re.compile(
    r"(?:i|we)\s+(?:prefer|like|love|want|hate|dislike)\b|je\s+préfère|ich\s+(?:mag|bevorzuge)|prefiero|"
    r"eu\s+prefiro|prefiro",
    re.IGNORECASE,
)
_MEMORIES = re.compile(
    r"(?:(?:remember|when|what|how|if|why|who|where|which|me|this|it|quand|wie|cuando|quando)\b|"
    r"(?:the |that )?time\b|"
    r"(?:that|them|these|those)$)",
    re.I,
)
# What people say before and after a request, and what is no part of what they want kept.
_OPENING = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|also|and|so|well|great|thanks|thank\s+you|yes|no(?=\s*[,.!:;-])|"
    r"one\s+more\s+thing)"
    r"(?:\s+there)?[\s,.!:;-]+)+",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:thanks|thank\s+you|many\s+thanks|cheers|please|merci|danke|gracias|obrigad[oa])(?:\s+\w+){0,2}[.!]*",
    re.I,
)
_PLEASE = re.compile(
    r"^(?:please|bitte|por\s+favor|s['’]il\s+(?:te|vous)\s+pla[iî]t)[\s,]+|"
    r"[\s,]+(?:please|bitte|por\s+favor|s['’]il\s+(?:te|vous)\s+pla[iî]t)$",
    re.IGNORECASE,
)
# Code and quoted lines are shown, not said.
_QUOTED = re.compile(r"```[\s\S]*?(?:```|\Z)|^(?:>| {4}|\t).*$", re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+(?=\S)")
MAX_SENTENCES_BEFORE: Final = 2
STATEMENT_MIN_WORDS: Final = (
    5  # "that scene in Alien" names something, "that the release went out Friday" says it
)
_CONNECTED = re.compile(r"(?:\bthat|\bque|\bqu['’]|\bdass|:|,)\s*$", re.IGNORECASE)
_VERB = re.compile(
    r"(?:\b(?:is|are|am|was|were|has|have|had|will|can|cannot|does|lives?|works?|likes?|hates?|needs?|wants?|uses?|"
    r"moved|starts?|ends?|est|sont|a|ont|sera|ist|sind|hat|haben|wird|heißt|mag|es|son|está|están|tiene|tienen|é|"
    r"são|fica|tem|têm|gosta|vive|mora|trabaja|trabalha|travaille|habite|arbeitet|wohnt)\b|['’](?:s|re|m|ve|ll)\b)",
    re.IGNORECASE,
)
# Verbs that may be names of things as well ("remember the costs"); behind a "that" they are verbs.
_VERB_AFTER_THAT = re.compile(
    r"\S+\s+(?:\S+\s+)?(?:costs?|takes?|took|opens?|closes?|closed|means?|goes|went|comes?|came|becomes?|became|gets?|got|"
    r"belongs?|owns?|owed|owes?|speaks?|drives?|runs?|ran|plays?|buys?|bought|sells?|sold|pays?|paid|keeps?|kept|left|leaves?|"
    r"joined|joins?|changed|changes?|broke|breaks?|knows?|said|says?|arrives?|arrived|died|married|quit|retired)\b",
    re.IGNORECASE,
)
# A value that goes on with another statement is no value: the whole sentence is kept instead.
_GOES_ON = re.compile(
    r"[.!?;]\s|\b(?:and|but|et|und|aber|y|pero|e|mas)\s+(?:my|our|i|we|mon|ma|mein|ich|mi|o meu)\b", re.I
)
_FORGETTING = re.compile(
    r"(?:please\s+)?forget\s+(?:about\s+|that\s+)?(?P<what>(?!it$)\S.{2,200})", re.IGNORECASE
)
_NOT_TO = re.compile(r"not\s+to\s+", re.IGNORECASE)
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
    if len(message) > MAX_REQUEST_CHARS:
        return None
    sentences = _requesting(_QUOTED.sub(" ", message))
    after = _ASKING_AFTER.fullmatch(_OPENING.sub("", " ".join(sentences)))
    if after and states_something(after["body"]):
        return classify(after["body"])
    for start in range(min(len(sentences), MAX_SENTENCES_BEFORE + 1)):
        text = _OPENING.sub("", " ".join(sentences[start:]))
        for pattern in _ASKING:
            match = pattern.match(text)
            if match:
                return _asked(match, is_question=text.endswith("?"))
        if text.endswith("?"):
            return None
        match = _FROM_NOW_ON.match(text)
        if match:
            body = _trimmed(match["body"])
            return Intent("rule", body) if is_order(body) else None
        if start == 0 and is_standing_order(_trimmed(text)):
            return Intent("rule", _trimmed(text))
    return None


def _requesting(message: str) -> list[str]:
    """The sentences of a message, without a question or thanks that follow the rest."""
    sentences = _SENTENCES.split(message.strip())
    while len(sentences) > 1 and (sentences[-1].endswith("?") or _COURTESY.fullmatch(sentences[-1])):
        sentences.pop()
    return [sentence for sentence in sentences if sentence]


def states_something(message: str) -> bool:
    """Whether a message tells something rather than asks for it."""
    text = _OPENING.sub("", message.strip())
    return "?" not in text and not _ASKS.match(text) and _VERB.search(text) is not None


def forget_query(message: str) -> str:
    """What a message asks to forget, such as `my name`; empty if it asks for nothing of the kind."""
    match = _FORGETTING.fullmatch(message.strip().rstrip(".!"))
    return match["what"] if match else ""


def classify(body: str) -> Intent:
    """What a text that shall be kept is: an order, a named fact, or a piece of text."""
    text = _trimmed(body)
    match = _FROM_NOW_ON.match(text)
    if match:
        return Intent("rule", _trimmed(match["body"]))
    if _NOT_TO.match(text):
        return Intent("rule", _NOT_TO.sub("do not ", text, count=1))
    if _LIKING.match(text):
        return Intent("rule", text, category="preference")
    if is_order(text) or _MUST.search(text):
        return Intent("rule", text)
    for prefix, pattern in _MY:
        named = pattern.fullmatch(text)
        if named and not _GOES_ON.search(named["value"]) and (slug := _slug(named["name"])):
            return Intent("fact", text, key=f"{prefix}.{slug}", value=_trimmed(named["value"]))
    return Intent("episode", text)


def _asked(match: re.Match[str], *, is_question: bool) -> Intent | None:
    groups = match.groupdict()
    body = _trimmed(groups["body"])
    is_request = groups.get("polite") and (groups.get("to") or groups.get("that"))
    if not any(map(str.isalnum, body)) or (is_question and not is_request):
        return None
    if groups.get("to"):
        return Intent("rule", body)
    if _MEMORIES.match(body):
        return None
    intent = classify(body)
    return intent if intent.kind != "episode" or _states(match, body) else None


def _states(match: re.Match[str], body: str) -> bool:
    """Whether what shall be kept is a statement. "Remember the Alamo" names a thing and keeps nothing."""
    has_connector = match.start("body") > 0 and _CONNECTED.search(match.string[: match.start("body")])
    if _VERB.search(body):
        return True
    if not has_connector:
        return False
    return len(body.split()) >= STATEMENT_MIN_WORDS or _VERB_AFTER_THAT.match(body) is not None


def _trimmed(text: str) -> str:
    """Without the blanks and the end mark of the sentence it was taken from."""
    plain = " ".join(text.split()).rstrip(" .!?")
    return _PLEASE.sub("", plain).rstrip(" .!?,")


def _slug(name: str) -> str:
    """`favourite editor` as `favourite_editor`: what a key may hold. Empty where nothing of it is left."""
    name = re.sub(r"['’]s\b", "", name.casefold())
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:KEY_SLUG_CHARS].strip("_")
