"""Numbers and word lists of lessons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from crewsite.security.origin import Source

RULE_MIN_CHARS: Final = 3  # chapter 02, 2.5
RULE_MAX_CHARS: Final = 1_000
NEGATIVE_MAX_CHARS: Final = 1_000
SCOPE_MAX_CHARS: Final = 500

# Chapter 02, 2.5; seed 004 has the first two, and seeds rank what a model inferred below what was carried over.
CONFIDENCE: Final[dict[str, float]] = {
    Source.USER_EXPLICIT: 1.0,
    Source.MIGRATION: 0.9,
    Source.IMPORT: 0.9,
    Source.CONSOLIDATION: 0.85,
    Source.TASK: 0.85,
    Source.API: 0.9,
}

MAX_RENDERED: Final = 50  # seed 001, "max 50 lessons"
TOPIC_OVERLAP: Final = 0.5  # seed 001, "topic overlap (>50% keyword -> replace)"; chapter 02 counts the half in
# Chapter 02, 2.3 tells of an uncapped rule that swept a fifth of a store: one write replaces the nearest few at most.
MAX_REPLACED: Final = 3
NEAREST_LOOKED_AT: Final = 8  # nearest lessons compared by meaning; further ones are far below any threshold
TOPIC_CANDIDATES: Final = 24  # lessons that share keywords and are embedded for comparison, most shared first


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one embedding model between two rules.

    `topic`: two rules that share their keywords are about the same thing. `choice`: the same where they differ in one
    value that is chosen ("use X for indentation"), which is weaker evidence by cosine and stronger by form. `same`: two
    rules mean the same whatever their words.
    """

    topic: float
    choice: float
    same: float


# Chapter 02, 2.5, for the 0.6B model the seeds were tuned on; also used for models nobody measured.
SEED_THRESHOLDS: Final = Thresholds(topic=0.60, choice=0.60, same=0.85)
THRESHOLDS: Final[dict[str, Thresholds]] = {
    "qwen3-embedding-0.6b": SEED_THRESHOLDS,
    # `python -m bench lessons` derives them from bench/lesson_pairs.csv. At 0.60 for all, "back up the database before
    # migrations" would replace "back up the uploads before migrations" (cosine 0.74), and the dark and light modes
    # (0.79) and quotes (0.93) still meet the higher bar.
    "minilm-l6-v2": Thresholds(topic=0.75, choice=0.60, same=0.85),
}


def thresholds_for(model_id: str) -> Thresholds:
    return THRESHOLDS.get(model_id, SEED_THRESHOLDS)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of giving instructions: they say that something is a rule, not what it is about. English, French, German,
# Spanish, Portuguese, Italian, Dutch; negations among them, because "never X" and "X" are about the same.
RULE_WORDS: Final = _words(
    "always never please prefer avoid use using make sure ensure do must should don doesn didn isn aren won t not no"
    " remember try need want keep ever any only rather instead also now me my it them be before after when if"
    " toujours jamais pas ne utilise utiliser utilisez préfère préférer évite éviter faut doit veuillez avant après quand"
    " immer nie niemals nicht kein keine bitte verwende verwenden benutze nutze nutzen vermeide soll muss bevor nach vor"
    " siempre nunca jamás usa usar use utiliza prefiere evita debe hay antes después cuando"
    " sempre usar utilize prefira evite deve depois quando mai usa usare preferisci prima dopo"
    " altijd nooit niet geen gebruik gebruiken vermijd moet voor na"
)
# Words that turn what follows (or, in German and Dutch, what goes before) round.
NEGATORS: Final = _words(
    "never not don't doesn't didn't isn't won't mustn't shouldn't no avoid without stop jamais pas ne sans évite nie niemals nicht kein keine ohne"
    " vermeide nunca jamás no sin evita não nem sem evite non mai senza nooit niet geen zonder vermijd"
)
PUNCTUATION: Final = ".,;:!?\"'`()[]{}<>…“”«»„*"
NEGATOR_REACH_WORDS: Final = 3  # "do not ever use X": how far before X its negation may stand
NEGATORS_BEHIND: Final = _words("nicht niet pas")
# A value behind one of these is a choice: a newer value takes the place of the older one.
CHOICE_WORDS: Final = _words(
    "use using prefer is are in as with by to at on via choose be utilise utilisez préfère est en avec"
    " verwende benutze nutze ist mit auf als usa utiliza prefiere es con utilize prefira é com preferisci è"
    " gebruik met"
)
ARTICLES: Final = _words(
    "a an the le la les un une des de du l den die das dem der ein eine einen el los las una o os as um uma il lo gli i"
    " het een"
)

# Facts about the assistant that the next model or release makes false; kept, they would outlive their truth.
_MODEL_NAMES: Final = (
    r"(?:chat)?gpt|claude|gemini|llama|qwen|mistral|mixtral|deepseek|grok|sonnet|opus|haiku|o[134](?:-mini)?|phi|gemma|kimi"
)
VOLATILE_SELF_FACTS: Final[tuple[re.Pattern[str], ...]] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:you(?:['’]re| are)|i(?:['’]m| am)|the (?:assistant|bot|agent) is|this (?:assistant|bot|agent) is)"
        rf"\s+(?:(?:now|currently|actually|really|just|the|a|an|an? ai|called|named)\s+){{0,3}}"
        rf"(?:(?:language )?model\b|(?:{_MODEL_NAMES})\b)",
        rf"\b(?:you|i|the (?:assistant|bot|agent))(?:['’]re| are|['’]m| am| is)?\s+(?:(?:now|currently)\s+)?"
        rf"(?:run|runs|running|powered|based|built)\s+(?:on|by|upon|with)\s+(?:the\s+)?(?:model\b|(?:{_MODEL_NAMES})\b)",
        r"\b(?:your|my|the assistant['’]s)\s+(?:current\s+|underlying\s+|own\s+)?"
        r"(?:model(?: name| version| id)?|version|knowledge cut-?off|training cut-?off|context (?:window|length|size)"
        r"|provider)\s+(?:is|was|=|:)",
        rf"\btu es (?:le |un )?(?:modèle\b|(?:{_MODEL_NAMES})\b)|\bton modèle est\b",
        rf"\bdu bist (?:das |ein )?(?:modell\b|(?:{_MODEL_NAMES})\b)|\bdein modell ist\b",
        rf"\b(?:tú )?eres (?:el |un )?(?:modelo\b|(?:{_MODEL_NAMES})\b)|\btu modelo es\b",
        rf"\bvocê é (?:o |um )?(?:modelo\b|(?:{_MODEL_NAMES})\b)|\bseu modelo é\b",
    )
)
