"""Facts that a person has one of at a time: where they work, where they live. Pure.

"I just joined Microsoft" says that "I work at Google" is over, though the two share no word and their vectors
lie far apart. A text that tells such a change is held against the ones that tell the state before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from crewsite.search.words import STOP_WORDS
from crewsite.security.text import fold
from memory.vocabulary import words
from memory.words import detect_language


@dataclass(frozen=True, slots=True)
class Topic:
    """One such fact. `query` finds the texts that may tell it, `state` and `change` say whether one does."""

    name: str
    query: str
    state: re.Pattern[str]
    change: re.Pattern[str]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_LEISURE: Final = (
    r"(?!.*\b(?:club|band|gym|class|course|choir|team|league|group|call|meeting|lunch|dinner|church)\b)"
)

TOPICS: Final = (
    Topic(
        "work",
        "work job employer employed joined hired arbeite angestellt travaille employeur trabajo trabalho",
        _any(
            r"\bwork(?:s|ed|ing)? (?:\w+ )?(?:at|for|with)\b",
            r"\bemploy(?:ed|er)\b",
            r"\b(?:job|position|role|engineer|developer|manager|designer|teacher|nurse) (?:at|with)\b",
            r"\b(?:joined|joining|hired by)\b",
            r"\barbeite[tn]? .*\b(?:bei|für)\b",
            r"\bangestellt\b",
            r"\btravailles? .*\b(?:chez|pour|à)\b",
            r"\btrabaj[oa] (?:en|para)\b",
            r"\btrabalh[oa] (?:n[oa]|em|para)\b",
        ),
        _any(
            r"\bjoin(?:ed|ing) (?:the )?(?-i:[A-Z0-9])" + _LEISURE,
            r"\bnew (?:job|employer|position)\b",
            r"\bstart(?:ed|ing)? (?:a new job |working )(?:at|with|for)\b",
            r"\b(?:quit|resigned|got fired|was fired|laid off|was hired|got hired)\b",
            r"\bleft (?:my job|(?-i:[A-Z]))",
            r"\b(?:now|no longer|don't|doesn't) works?\b",
            r"\bworks? .*\b(?:now|anymore)\b",
            r"\bneue[rn]? (?:job|stelle|arbeit|arbeitgeber)\b",
            r"\barbeite[tn]? (?:jetzt|nun|nicht mehr)\b",
            r"\b(?:jetzt|nun) arbeite[tn]?\b",
            r"\bgekündigt\b",
            r"\brejoint\b",
            r"\bnouve(?:au|l) (?:travail|poste|emploi|job|employeur)\b",
            r"\b(?:embauchée?|démissionné)\b",
            r"\btravailles? (?:maintenant|désormais)\b",
            r"\bnuevo (?:trabajo|empleo|puesto)\b",
            r"\bahora trabaj[oa]\b",
            r"\b(?:me uní a|empecé a trabajar)\b",
            r"\bnovo (?:trabalho|emprego)\b",
            r"\bagora trabalh[oa]\b",
            r"\bcomecei a trabalhar\b",
        ),
    ),
    Topic(
        "home",
        "live lives living based moved home flat apartment house wohne wohnt habite vivo vive moro mora",
        _any(
            r"\bliv(?:e|es|ed|ing) (?:in|at|near|on)\b",
            r"\bbased in\b",
            r"\b(?:home|flat|apartment|house|address) is\b",
            r"\bmoved (?:\w+ )?(?:in)?to\b",
            r"\b(?:wohne|wohnt|wohnen|lebe|lebt) .*\bin\b",
            r"\b(?:habite|vis|vit) .*\b(?:à|en|au)\b",
            r"\bviv[oe] en\b",
            r"\b(?:moro|mora|vivo|vive) (?:em|n[oa])\b",
        ),
        _any(
            r"\bmov(?:ed|ing) (?:back |house |home )?(?:in)?to\b",
            r"\brelocat(?:ed|ing)\b",
            r"\b(?:now|no longer|don't|doesn't) lives?\b",
            r"\blives? .*\b(?:now|anymore)\b",
            r"\bnew (?:home|flat|apartment|house|address)\b",
            r"\b(?:umgezogen|gezogen)\b",
            r"\b(?:wohne|wohnt|lebe|lebt) (?:jetzt|nun|nicht mehr)\b",
            r"\bdéménagé\b",
            r"\bhabite (?:maintenant|désormais)\b",
            r"\b(?:me mudé|se mudó)\b",
            r"\bahora viv[oe]\b",
            r"\b(?:me mudei|mudou-se|mudei)\b",
            r"\bagora (?:moro|mora|vivo|vive)\b",
        ),
    ),
)
ASSISTED: Final = "me"  # whoever the memory belongs to, named by no name

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SUBJECT_WITHIN: Final = 3
_OURSELVES: Final = words("i i'm i've we we've user ich wir je j'ai nous yo eu nós nosotros me")
_OUR: Final = words("my our mein meine unser unsere mon ma mes notre mi nuestro meu minha nosso")
_OWN_THINGS: Final = words("""
    new old current job work employer position role company home flat apartment house address neue neuer
    neues nouveau nouvelle nuevo nueva novo nova stelle wohnung travail poste trabajo empleo casa trabalho
""")
_STARTS_WITH_A_VERB: Final = re.compile(
    r"j'|(?:work(?:ed|ing)?|join(?:ed|ing)|start(?:ed|ing)|quit|left|got|hired|liv(?:e|ed|ing)|mov(?:ed|ing)"
    r"|relocat(?:ed|ing)|based|new|now|just|trabaj\w+|trabalh\w+|vivo|moro|ahora|agora|empecé|comecei"
    r"|arbeite|wohne)\b"
)


def changed(text: str) -> list[Topic]:
    """The topics of which a text tells a change."""
    return [topic for topic in TOPICS if topic.change.search(text)]


def over(topic: Topic, text: str, *, change: str) -> bool:
    """Whether a text tells the state that `change` ends: the same topic of the same person."""
    return bool(topic.state.search(text)) and subject(text) == subject(change) and fold(text) != fold(change)


def ends(text: str, change: str) -> bool:
    """Whether a text tells a state that another ends."""
    return any(over(topic, text, change=change) for topic in changed(change))


def subject(text: str) -> str:
    """Whom a sentence is about: `me`, a name, or somebody's relation to me ("My sister works…")."""
    words_of = _WORD.findall(text)[:_SUBJECT_WITHIN]
    folded = [fold(word).replace("’", "'") for word in words_of]
    if not folded:
        return ASSISTED
    if folded[0] in _OUR:
        return next((word for word in folded[1:2] if word not in _OWN_THINGS), ASSISTED)
    is_name = words_of[0][0].isupper() and folded[0] not in STOP_WORDS[detect_language(text)]
    # A sentence may start with its verb ("Moved to Lisbon", "Trabajo en Google"): then it is about me.
    if is_name and _OURSELVES.isdisjoint(folded) and not _STARTS_WITH_A_VERB.match(folded[0]):
        return folded[0]
    return ASSISTED
