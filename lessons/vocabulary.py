"""Word lists of lessons, and the patterns of statements that are not kept. Data only."""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words of giving instructions: they say that something is a rule, not what it is about. English, French,
# German, Spanish, Portuguese, Italian, Dutch, Russian, Korean; negations among them, because "never X" and
# "X" are about the same.
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
    altijd steeds nooit niet geen gebruik gebruiken vermijd moet voor na
    всегда никогда не нет пожалуйста используй используйте использовать избегай нужно надо перед после когда
    если
    항상 언제나 절대 반드시 꼭 사용해 사용하세요 사용 써 해 해줘 하세요 마 말 말아 마세요 하지 전에 후에 때
""")
# Words that turn what follows round; in German and Dutch also what goes before.
NEGATORS: Final = _words("""
    never not don't doesn't didn't isn't won't mustn't shouldn't no avoid without stop
    jamais pas ne sans évite nie niemals nicht kein keine ohne vermeide nunca jamás sin evita
    não nem sem evite non mai senza nooit niet geen zonder vermijd не никогда без нет избегай
""")
# What may lead in a rule and leave it the same; anything else before it may turn it round ("it's a bad idea
# to", "rather than", "nobody should"), and there are more ways to do that than a list could hold.
LEAD_INS: Final = _words("""
    always please prefer use using make sure ensure do must should try remember need want keep to you your we
    i i'd like be it it's is important also ever all the a an my our in with by for on at as when only
    toujours utilise utiliser utilisez préfère préférer faut il doit veuillez
    immer bitte verwende verwenden benutze nutze nutzen soll muss du den die das dem der
    siempre usa usar use utiliza prefiere debe hay que
    sempre usar utilize prefira deve usare preferisci
    altijd steeds gebruik gebruiken moet
    всегда пожалуйста используй используйте использовать нужно надо
""")
# What says that a rule is not to be followed, beside the negations.
AGAINST: Final = _words("""
    nobody none refuse refuses bad wrong rather instead hate hates dislike forbidden forbid prohibited
    banned ban discouraged deprecated harmful stop quit against
    personne refuse mauvais mauvaise plutôt interdit arrête
    niemand schlecht schlechte falsch statt anstatt verboten
    nadie mala malo mal prohibido rechaza
    ninguém má mau proibido recusa
    nessuno cattiva vietato rifiuta
    niemand slecht fout verboden weiger
    никто плохо нельзя запрещено вместо
""")
NEGATORS_BEHIND: Final = _words("nicht niet pas")
# A value behind one of these is a choice: a newer value takes the place of the older one.
CHOICE_WORDS: Final = _words("""
    use using prefer is are in as with by to at on via choose be me mode
    utilise utilisez préfère est en avec verwende benutze nutze ist mit auf als mich
    usa utiliza prefiere es con modo utilize prefira é em com preferisci è modalità gebruik met
    используй используйте на это режим
""")
# Words that begin when, where or for what a rule holds. One list for all: short rules tell their language
# badly, and a rule kept beside another costs a line, one that is gone costs the user a correction.
CONDITION_WORDS: Final = _words("""
    for in on when whenever if unless except while during until before after only inside within
    pour dans sur quand lorsque si sauf pendant avant après chez
    für in im bei beim wenn falls außer während vor nach auf
    para en cuando si salvo excepto durante antes después
    em nos nas quando exceto depois per nei nelle nel se tranne eccetto prima dopo
    voor bij als wanneer behalve tijdens na
    для в во на при когда если кроме перед после
""")
UNIVERSAL_WORDS: Final = _words("""
    all any every everything everywhere always whatever tout tous toute toutes partout alle allen jede jedem
    überall todo todos toda todas siempre tudo sempre tutto tutti tutte alles elke iedere все всех всегда
""")
ARTICLES: Final = _words("""
    a an the le la les un une des de du l den die das dem der ein eine einen el los las una o os as um uma
    il lo gli i het een
""")
JOINING_WORDS: Final = _words("and or but then und oder et ou y e o en of и или")
CLAUSE_ENDS: Final = ".,;:!?"
PUNCTUATION: Final = ".,;:!?\"'`()[]{}<>…“”«»„*"

# Scripts without blanks between words. Japanese writes what a rule is about in Han and katakana, and its
# grammar in hiragana; Korean hangs its particles on to the word.
HAN_OR_KANA: Final = re.compile("[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
KANA: Final = re.compile("[\u3040-\u30ff]")
HIRAGANA: Final = re.compile("[\u3040-\u309f]+")
KOREAN_PARTICLE: Final = re.compile("(?<=[\uac00-\ud7a3])(?:을|를|은|는|이|가|에서|에|으로|로|의|과|와|도)$")
UNSPACED_RULE_WORDS: Final = re.compile(
    "使用|总是|總是|始终|始終|永远|永遠|一直|必须|必須|应该|應該|不要|可以|务必|尽量|优先|避免|禁止|请|請|用|要|的|了"
    "|时|時|前|后|後|先|不|别|使|常|必|中"
)
UNSPACED_CONDITION: Final = re.compile(
    "在|时|時|当|當|如果|除|场合|場合|とき|では|には|だけ|只|仅|対して|对于|때|경우|에서는|에는|만 "
)
UNSPACED_CHOICE_BEFORE: Final = re.compile("[用为為是以选選成]$")
UNSPACED_CHOICE_BEHIND: Final = re.compile(
    r"[\u30a0-\u30ff\u3400-\u9fff]*(?: ?모드)?(?:で|を使|にし|に統一|로 |으로 |를 사용|을 사용|게 )"
)

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
