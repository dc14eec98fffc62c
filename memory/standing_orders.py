"""Tells an order that shall hold from now on ("never push to main") from a remark that only begins like one
("never happened before"), in English, French, German, Spanish and Portuguese. Pure, and careful rather than
eager: what is no known order is none."""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ADVERBS: Final = {
    "en": "always|never",
    "fr": "toujours|jamais",
    "de": "immer|nie|niemals",
    "es": "siempre|nunca|jam[áa]s",
    "pt": "sempre|nunca|jamais",
}
_START: Final = re.compile(
    rf"(?:you\s+(?:should|must)\s+)?(?P<adverb>{'|'.join(_ADVERBS.values())})\s+(?P<rest>(?P<next>\w+).*)",
    re.IGNORECASE | re.DOTALL,
)
_NE_JAMAIS: Final = re.compile(r"ne\s+(?P<verb>\w+)\s+(?:\w+\s+)?jamais\s+(?P<next>\w+)", re.IGNORECASE)
# "Utilise toujours", "verwende immer", "usa siempre", "usa sempre".
_VERB_FIRST: Final = re.compile(
    r"(?P<verb>[^\W\d]+)\s+(?:toujours|immer|nie|niemals|siempre|nunca|sempre)\s+(?P<next>\w+)", re.IGNORECASE
)
# Words of an order: the verb people tell an assistant to do. In English any verb is taken after always or
# never, so the list only serves "from now on" and "remember that".
IMPERATIVES: Final = _words("""
    use prefer avoid write run keep dont do call answer reply respond speak talk stop name format add make put
    start check test ask explain show give be leave let tell send treat sign skip include exclude return
    commit push deploy refer address translate summarize summarise remember ignore assume work read open
    close wait log cite quote document comment review mark set pass take always never please only just
    utilise utilisez utiliser évite évitez réponds répondez écris écrivez parle parlez appelle appelez fais
    faites mets mettez ajoute ajoutez teste testez lance lancez vérifie vérifiez demande demandez donne donnez
    garde gardez préfère préférez pousse supprime supprimez commence commencez nomme nommez tutoie vouvoie
    ne n toujours jamais
    verwende verwenden benutze benutzen nutze nutzen vermeide vermeiden antworte antworten schreib schreibe
    schreiben sprich sprechen rede nenne nennen mach mache machen teste testen führe prüfe prüfen frag frage
    fragen gib geben zeig zeige halte nimm nehme setz setze setzen lass lasse lösche füge starte duze sieze
    immer nie niemals bitte kein keine
    usa usar use utiliza utilizar utilice evita evitar evite responde responder responda escribe escribir
    escriba habla hablar hable llama llamar pon poner ponga haz hacer haga añade añadir prueba probar ejecuta
    ejecutar comprueba pregunta da dame mantén prefiere empieza termina siempre nunca jamás
    utilize escreva escrever escreve fale falar fala chama chamar chame põe ponha faz fazer faça adiciona
    adicione adicionar testa testar teste executa execute executar verifica verifique pergunta pergunte dá dê
    mantém mantenha prefira começa comece sempre não
""")
# After "nunca" the order takes the subjunctive, which "you never ..." does not.
_SUBJUNCTIVES: Final = _words("""
    uses utilices escribas respondas borres hagas subas pongas añadas ejecutes cambies olvides digas metas
    envíes llames hables evites confíes empujes despliegues mezcles toques crees pidas preguntes
    escrevas respondas apagues faças ponhas adiciones executes mudes esqueças digas envies chames fales
    confies toques cries peças perguntes apague mude esqueça diga envie confie toque crie peça
""")
# After always or never these begin a remark or a saying: "never again", "always a pleasure".
_REMARKS: Final = _words("""
    mind again ever a an the on in at of gonna going have had has been was were is are am seen heard knew did
    does thought happy glad sorry sure ready good better best fun nice too enough my your his her their before
    late early welcome possible there here so as less more worse i we he she they it you this that these
    those noch wieder mehr so
    pas très bien mal aussi plus autant pareil la le les un une mieux
    o os el lo los las una uma mesmo mesma igual que y beim am im
""")
_SAYINGS: Final = re.compile(
    r"never say never|always look on the bright side|never trust a skinny", re.IGNORECASE
)
# Verbs that end like "happens", "happened" and "happening", and are orders all the same.
_PLAIN_VERBS: Final = _words("""
    focus discuss process address express access bypass compress pass press guess miss cross dismiss
    embed need feed proceed exceed seed speed succeed shed bring ping string ring
""")
_NO_ORDER: Final = re.compile(r"(?:s|ed|ing)\Z")
_NEEDED_STEM: Final = 3
_FRENCH_VERB: Final = re.compile(r"\w{2,}(?:er|ir|re|oir|ez)\Z")
_IBERIAN_INFINITIVE: Final = re.compile(r"\w{2,}(?:ar|er|ir)\Z")
_GERMAN_INFINITIVE: Final = re.compile(r"[a-zäöüß]{2,}(?:en|ern|eln)\Z")
_CLAUSE: Final = re.compile(r"[,;.:!()]|\b(?:wenn|falls|bevor|sobald|und|oder|aber)\b")
_NO_SUBJUNCTIVE: Final = re.compile(rf"no\s+(?:{'|'.join(sorted(_SUBJUNCTIVES))})\b", re.IGNORECASE)
_FIRST: Final = re.compile(r"[^\W\d]+")
_YOU_MUST: Final = re.compile(
    r"(?:you|we|tu|vous|du|sie|wir|usted|tú|você)\s+(?:\w+\s+){0,2}?"
    r"(?:must|should|shall|have\s+to|need\s+to|dois|devez|musst|sollst|müssen|sollen|debe|debes|deve|deves)\b|"
    r"i(?:\s+(?:want|need|would\s+like)|['’]d\s+like)\s+you\s+to\b",
    re.IGNORECASE,
)


def is_standing_order(text: str) -> bool:
    """Whether a text orders something for always or never, by the word it begins with."""
    if _SAYINGS.match(text):
        return False
    start = _START.match(text)
    if start:
        return _orders(start["adverb"].lower(), start["next"], start["rest"])
    negated = _NE_JAMAIS.match(text)
    if negated:
        return negated["verb"].lower() not in {"sais", "sait", "suis", "est", "ai", "a", "vais", "va"}
    verb_first = _VERB_FIRST.match(text)
    return (
        verb_first is not None
        and verb_first["verb"].lower() in IMPERATIVES
        and verb_first["next"].lower() not in _REMARKS
    )


def is_order(text: str) -> bool:
    """Whether a text tells somebody what to do: it begins with an imperative, or says what you must."""
    first = _FIRST.search(text.lower().replace("don't", "dont").replace("don’t", "dont"))
    known = first is not None and first[0] in IMPERATIVES
    return (
        known
        or _NO_SUBJUNCTIVE.match(text) is not None
        or _YOU_MUST.match(text) is not None
        or is_standing_order(text)
    )


def _orders(adverb: str, following: str, rest: str) -> bool:
    word = following.lower()
    if word in _REMARKS:
        return False
    languages = [name for name, pattern in _ADVERBS.items() if re.fullmatch(pattern, adverb)]
    return any(_CHECKS[name](word, rest) for name in languages)


def _english(word: str, _rest: str) -> bool:
    if word in _PLAIN_VERBS or len(word) <= _NEEDED_STEM:
        return True
    return _NO_ORDER.search(word) is None or word.endswith("ss")


def _french(word: str, _rest: str) -> bool:
    return word in IMPERATIVES or _FRENCH_VERB.match(word) is not None


def _german(word: str, rest: str) -> bool:
    """ "Immer pytest verwenden": the verb stands at the end of the clause, in the infinitive."""
    words = re.findall(r"\w+", _CLAUSE.split(rest, maxsplit=1)[0])
    return word in IMPERATIVES or (len(words) > 1 and _GERMAN_INFINITIVE.match(words[-1]) is not None)


def _iberian(word: str, _rest: str) -> bool:
    return word in IMPERATIVES or word in _SUBJUNCTIVES or _IBERIAN_INFINITIVE.match(word) is not None


_CHECKS: Final = {"en": _english, "fr": _french, "de": _german, "es": _iberian, "pt": _iberian}
