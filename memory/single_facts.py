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
from memory.vocabulary import DATE_WORDS, words
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


# A name, or what stands for an employer; not the next meeting, and not whom one met for lunch.
_EMPLOYER: Final = (
    r"(?:the )?(?!(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?-i:[A-Z0-9])"
    r"(?!(?:\W?\w+){0,4}\W(?:and|for an?|club|band|gym|class|course|choir|channel|server|call|meeting|standup"
    r"|lunch|dinner|church)\b)"
)
_NAME: Final = r"(?-i:[A-Z0-9])"
_A_JOB: Final = r"(?:job|employer|position|role)"
_WORK_AT: Final = r"(?<!the )(?<!my )(?<!our )(?<!of )work(?:s|ing)? (?:\w+ )?(?:at|for)\b"
_LIVE_IN: Final = r"liv(?:e|es|ing) (?:in|at|near|on)\b"

TOPICS: Final = (
    Topic(
        "work",
        "work job employer employed joined hired arbeite angestellt travaille employeur trabajo trabalho",
        _any(
            rf"\b{_WORK_AT}",
            rf"\bat {_NAME}\w+ \w+ work\b",
            r"\bemploy(?:ed|er)\b",
            rf"\b(?:job|position|role) (?:is )?(?:at|with) {_NAME}",
            rf"(?:\b(?:am|is|as)|['’][ms]) (?:an? )?(?:[\w-]+ ){{1,4}}(?:at|for) {_NAME}",
            rf"\bjoin(?:ed|ing) {_EMPLOYER}",
            r"\bhired by\b",
            r"\barbeite[tn]? .*\b(?:bei|für)\b",
            r"\bangestellt\b",
            r"\btravailles? .*\b(?:chez|pour|à)\b",
            r"\btrabaj[oa] (?:en|para)\b",
            r"\btrabalh[oa] (?:n[oa]|em|para)\b",
        ),
        _any(
            rf"\bjoin(?:ed|ing) {_EMPLOYER}",
            r"\bjust joined (?!(?:the|an?|my|our|your|us|them|him|her|this|in)\b)\w+[.!]?$",
            r"\bjoined an? (?:\w+ )?(?:startup|company|firm|bank|agency|hospital|school|university)\b",
            rf"\b(?:my|his|her|their|\w+['’]s) new {_A_JOB} (?:is|will be|at|with)\b",
            rf"\b(?:have|has|got|found|start(?:ed|ing)?|took|accepted|landed) an? (?:new )?{_A_JOB}"
            r" (?:at|with)\b",
            r"\b(?:have|has|got|found|start(?:ed|ing)?) a new (?:job|employer)\b",
            rf"\bstart(?:ed|ing)? (?:work(?:ing)? )?(?:at|with|for) {_NAME}",
            rf"\bnow {_WORK_AT}",
            rf"\b{_WORK_AT}.*\b(?:now|anymore)\b",
            rf"\b(?:no longer|don['’]t|doesn['’]t) {_WORK_AT}",
            rf"\b(?:since|as of|starting) .*\b{_WORK_AT}",
            rf"\b(?:stopped|quit) {_WORK_AT}",
            r"\b(?:chang|switch)(?:ed|ing) (?:my |his |her |their )?(?:jobs?|employers?|companies)\b",
            r"\b(?:resigned|retired|got fired|was fired|laid off|was hired|got hired)\b",
            r"\b(?:quit|left|lost) (?:my|his|her|their|the) job\b",
            r"\bquit(?:[.!]?$| (?:last|this|yesterday|today)\b)",
            rf"\b(?:quit|left) (?P<left_job>{_NAME}\w+)",
            r"\bneue[rn]? (?:job|stelle|arbeit|arbeitgeber)\b",
            r"\barbeite[tn]? (?:jetzt|nun|nicht mehr)\b",
            r"\b(?:jetzt|nun|seit \w+) arbeite[tn]?\b",
            r"\b(?:gekündigt|(?:job|stelle) gewechselt|bei \w+ angefangen)\b",
            r"\b(?:rejoint|viens de rejoindre)\b",
            r"\bnouve(?:au|l) (?:travail|poste|emploi|job|employeur)\b",
            r"\b(?:embauchée?|démissionné)\b",
            r"\btravailles? (?:maintenant|désormais)\b",
            r"\bnuevo (?:trabajo|empleo|puesto)\b",
            r"\bahora trabaj[oa]\b",
            r"\b(?:me uní a|me he unido a|acabo de unirme a|empecé a trabajar)\b",
            r"\bnovo (?:trabalho|emprego)\b",
            r"\bagora trabalh[oa]\b",
            r"\b(?:comecei a trabalhar|entrei n[oa])\b",
        ),
    ),
    Topic(
        "home",
        "live lives living based moved home flat apartment house wohne wohnt habite vivo vive moro mora",
        _any(
            rf"\b{_LIVE_IN}",
            r"\bbased in\b",
            r"\b(?:home|flat|apartment|house) is (?:in|at|on|near)\b",
            r"\baddress is\b",
            rf"\bmoved (?:\w+ )?(?:in)?to {_NAME}",
            r"\b(?:wohne|wohnt|wohnen|lebe|lebt) .*\bin\b",
            r"(?:\b|['’])(?:habite|vis|vit) .*\b(?:à|en|au)\b",
            r"\bviv[oe] en\b",
            r"\b(?:moro|mora|vivo|vive) (?:em|n[oa])\b",
        ),
        _any(
            rf"\bmov(?:ed|ing) (?:back |house |home |from \w+ )?(?:in)?to {_NAME}",
            r"\bmoved (?:back |in)?to [a-z]+(?:[.!,]?$| (?:last|this|yesterday)\b)",
            r"\bmov(?:ed|ing) (?:in)?to (?:an?|my|our|his|her|their) (?:\w+ )?"
            r"(?:home|flat|apartment|house|place)\b",
            r"\brelocat(?:ed|ing)\b",
            rf"\bnow {_LIVE_IN}",
            rf"\b{_LIVE_IN}.*\b(?:now|anymore)\b",
            rf"\b(?:no longer|don['’]t|doesn['’]t|stopped) {_LIVE_IN}",
            r"\bnew (?:home|flat|apartment|house|address)\b",
            rf"\bleft (?P<left_home>{_NAME}\w+)",
            r"\b(?:umgezogen|gezogen)\b",
            r"\b(?:wohne|wohnt|lebe|lebt) (?:jetzt|nun|nicht mehr)\b",
            r"\bdéménagé\b",
            r"\bhabite (?:maintenant|désormais)\b",
            r"\b(?:me mudé|se mudó|me he mudado)\b",
            r"\bahora viv[oe]\b",
            r"\b(?:me mudei|mudou-se|mudei(?:-me)?)\b",
            r"\bagora (?:moro|mora|vivo|vive)\b",
        ),
    ),
)
_CLAUSE_ENDS: Final = re.compile(r"[.,;:!?]")
# What is not so, was so, is only thought of, or is told of somebody else further on in the sentence.
_NOT_SO: Final = re.compile(
    r"\b(?:if|would|might|may|could|will|never|almost|nearly|not|used to|hop(?:es?|ing)|wants?|wish"
    r"|plan(?:s|ning)?|consider(?:s|ing)?|think(?:s|ing)?|heard|told|read|learned)\b|n['’]t\b",
    re.IGNORECASE,
)
ASSISTED: Final = "me"  # whoever the memory belongs to, named by no name

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SUBJECT_WITHIN: Final = 3
# "Last week", "In May": when it was comes before who did it.
_WHEN: Final = (
    words("""
    yesterday today recently finally last this next week month year in on since as of from after morning
    gestern heute seit kürzlich letzte woche im hier récemment depuis ayer hoy desde ontem hoje
""")
    | DATE_WORDS
)
_OURSELVES: Final = words("i i'm i've we we're we've user ich wir je j'ai nous yo eu nós nosotros me")
_OUR: Final = words("my our mein meine unser unsere mon ma mes notre mi nuestro meu minha nosso user's")
_THE: Final = words("the a an this that der die das ein eine le la les l' un une el los las o os as um uma")
_OTHERS: Final = words(
    "he she they it someone somebody everyone er sie il elle ils elles él ella ellos ele ela eles"
)
_OWN_THINGS: Final = words("""
    new old current job work employer position role company home flat apartment house address neue neuer
    neues nouveau nouvelle nuevo nueva novo nova stelle wohnung travail poste trabajo empleo casa trabalho
""")
_STARTS_WITH_A_VERB: Final = re.compile(
    r"j'|(?:work(?:ed|ing)?|join(?:ed|ing)|start(?:ed|ing)|quit|left|got|hired|liv(?:e|ed|ing)|mov(?:ed|ing)"
    r"|relocat(?:ed|ing)|based|new|now|just|at|trabaj\w+|trabalh\w+|vivo|moro|ahora|agora|empecé|comecei|acabo"
    r"|entrei|mudei(?:-me)?|arbeite|wohne)\b"
)


def changed(text: str) -> list[Topic]:
    """The topics of which a text tells a change."""
    return [topic for topic in TOPICS if _tells(topic.change, text)]


def over(topic: Topic, text: str, *, change: str) -> bool:
    """Whether a text tells the state that `change` ends: the same topic of the same person."""
    if not _tells(topic.state, text) or subject(text) != subject(change) or fold(text) == fold(change):
        return False
    # What somebody left ends the state that names it; one leaves friends and rooms too.
    left = [name for found in topic.change.finditer(change) for name in found.groups()]
    return not left or None in left or any(name and fold(name) in fold(text) for name in left)


def ends(text: str, change: str) -> bool:
    """Whether a text tells a state that another ends."""
    return any(over(topic, text, change=change) for topic in changed(change))


def subject(text: str) -> str:
    """Whom a sentence is about: `me`, a name, or what it starts with ("My sister works…", "The server…")."""
    found = [(word, fold(word).replace("’", "'")) for word in _WORD.findall(text)]
    while found and found[0][1] in _WHEN:
        found.pop(0)
    found = found[:_SUBJECT_WITHIN]
    if len(found) > 1 and found[0][1] in _THE:
        found.pop(0)
        if found[0][1] not in _OURSELVES | _OUR:
            return next((word for _, word in found if word not in _OWN_THINGS), found[0][1])
    if not found:
        return ASSISTED
    spelled, first = found[0]
    if first in _OUR:
        return next((word for _, word in found[1:2] if word not in _OWN_THINGS), ASSISTED)
    if first in _OTHERS:
        return first
    is_name = spelled[0].isupper() and first not in STOP_WORDS[detect_language(text)]
    # A sentence may start with its verb ("Moved to Lisbon", "Trabajo en Google"): then it is about me.
    if is_name and _OURSELVES.isdisjoint(word for _, word in found) and not _STARTS_WITH_A_VERB.match(first):
        return first
    return ASSISTED


def _tells(pattern: re.Pattern[str], text: str) -> bool:
    starts = [found.start() for found in pattern.finditer(text)]
    return any(not _NOT_SO.search(_CLAUSE_ENDS.split(text[:start])[-1]) for start in starts)
