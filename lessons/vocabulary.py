"""Word lists of lessons, and the patterns of statements that are not kept. Data only."""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of giving instructions: they say that something is a rule, not what it is about. English, French,
# German, Spanish, Portuguese, Italian, Dutch; negations among them, because "never X" and "X" are about the
# same.
RULE_WORDS: Final = _words("""
    always never please prefer avoid use using make sure ensure do must should don doesn didn isn aren won t
    not no remember try need want keep ever any only rather instead also now me my it them be before after
    when if
    toujours jamais pas ne utilise utiliser utilisez préfère préférer évite éviter faut doit veuillez avant
    après quand
    immer nie niemals nicht kein keine bitte verwende verwenden benutze nutze nutzen vermeide soll muss bevor
    nach vor
    siempre nunca jamás usa usar use utiliza prefiere evita debe hay antes después cuando
    sempre usar utilize prefira evite deve depois quando
    mai usare preferisci prima dopo
    altijd nooit niet geen gebruik gebruiken vermijd moet voor na
""")
# Words that turn what follows round; in German and Dutch also what goes before.
NEGATORS: Final = _words("""
    never not don't doesn't didn't isn't won't mustn't shouldn't no avoid without stop
    jamais pas ne sans évite nie niemals nicht kein keine ohne vermeide nunca jamás sin evita
    não nem sem evite non mai senza nooit niet geen zonder vermijd
""")
NEGATORS_BEHIND: Final = _words("nicht niet pas")
# A value behind one of these is a choice: a newer value takes the place of the older one.
CHOICE_WORDS: Final = _words("""
    use using prefer is are in as with by to at on via choose be me mode
    utilise utilisez préfère est en avec verwende benutze nutze ist mit auf als mich
    usa utiliza prefiere es con modo utilize prefira é com preferisci è modalità gebruik met
""")
ARTICLES: Final = _words("""
    a an the le la les un une des de du l den die das dem der ein eine einen el los las una o os as um uma
    il lo gli i het een
""")
PUNCTUATION: Final = ".,;:!?\"'`()[]{}<>…“”«»„*"

_MODEL: Final = (
    r"(?:(?:language )?model|mod[eè]le|modelo|modell|(?:chat)?gpt|claude|gemini|llama|qwen|mistral|mixtral"
    r"|deepseek|grok|sonnet|opus|haiku|gemma|kimi)(?![a-z])"
)
_ASSISTANT: Final = r"(?:you|(?:the|this) (?:assistant|bot|agent))"
_IS: Final = r"(?:['’]re| are| is)"
_FILLER: Final = r"(?:(?:now|currently|actually|really|just|own|underlying|the|an?|ai|called|named) ){0,4}"
_OWN: Final = (
    r"(?:model(?: name| version| id)?|version|(?:knowledge|training) cut-?off|context (?:window|length|size)"
    r"|provider)"
)
# Facts about the assistant that the next model or release makes false; kept, they would outlive their truth.
VOLATILE_SELF_FACTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_ASSISTANT}{_IS} {_FILLER}{_MODEL}",
        rf"\b{_ASSISTANT}(?:{_IS})? {_FILLER}(?:runs?|running|powered|based|built) (?:on|by) {_FILLER}"
        + _MODEL,
        rf"\b(?:your|the assistant['’]s) {_FILLER}{_OWN} (?:is|was|=)",
        rf"\b(?:tu es|du bist|(?:tú )?eres|você é|sei) (?:(?:le|un|das|ein|el|o|um|il) )?{_MODEL}",
        r"\b(?:ton modèle|dein modell|tu modelo|seu modelo|il tuo modello) (?:est|ist|es|é|è)\b",
    )
)
