"""Words that make two nearly equal texts say different things: numbers, dates, negations, opposites, tenses,
amounts; and those that say nothing of their own. Data only.
"""

from __future__ import annotations

import re
from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NUMBER_WORDS: Final = words("""
    two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand once
    twice half deux trois quatre cinq zwei drei vier fünf sechs sieben acht neun zehn dos tres cuatro
    cinco seis siete ocho
""")
DATE_WORDS: Final = words("""
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december today tomorrow yesterday tonight morning afternoon evening
    weekly daily monthly yearly lundi mardi mercredi jeudi vendredi samedi dimanche montag dienstag
    mittwoch donnerstag freitag samstag sonntag lunes martes miércoles jueves viernes sábado domingo
    demain hier heute morgen gestern mañana ayer
""")
NEGATIONS: Final = words("""
    no not never none nobody nothing without cannot neither nor stopped quit former formerly pas jamais
    aucun aucune sans nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne
    nunca jamás sin nadie ningún ninguna não nem ninguém sem senza mai nessuno niet geen nooit niemand
    zonder inte aldrig ingen inga utan не нет без никогда ни
""")

# Words that turn a sentence round without a negation:
# one of a pair in one text and the other in the other decides.
_PAIRS: Final = """
        on/off enabled/disabled enable/disable open/closed likes/dislikes like/dislike loves/hates
        love/hate passed/failed passes/fails up/down increase/decrease increased/decreased
        started/finished allowed/forbidden true/false dark/light before/after above/below more/less
        first/last accepted/rejected approved/rejected added/removed public/private manual/automatic
        left/right won/lost bought/sold joined/left am/pm
    """
OPPOSITES: Final = tuple(pair.split("/") for pair in _PAIRS.split())

# How much, how sure, how often, and whether still: words of one line say the same. Two texts that differ in
# them differ in what they say, however few letters that is.
_SENSES: Final = """
    all every each everything everyone everybody always alle allen alles jede jeder jedes jeden jedem immer
        tous toutes chaque toujours todos todas cada siempre sempre tutti tutte ogni elke iedere altijd
        varje alltid все каждый каждую всегда
    some certain einige manche quelques certains algunos algunas alguns algumas alcuni alcune qualche
        sommige enkele några некоторые
    most mostly meisten meistens mayoría maioria maggior meeste flesta большинство
    many viele vielen beaucoup muchos muchas muitos muitas molti molte veel många много
    few wenige peu pocos pocas poucos poucas pochi poche weinig мало
    only solely exclusively nur ausschließlich lediglich seulement uniquement solo sólo solamente únicamente
        só somente soltanto alleen slechts bara endast только лишь
    almost nearly beinahe presque casi quase quasi bijna nästan почти
    sometimes occasionally manchmal gelegentlich parfois veces vezes volte soms ibland иногда
    usually normally generally gewöhnlich normalerweise habituellement normalmente meestal vanligtvis обычно
    often frequently oft häufig souvent seguido frequentemente spesso vaak ofta часто
    rarely seldom hardly barely selten kaum rarement raramente zelden sällan редко
    can may might could perhaps maybe possibly kann können könnte darf dürfen vielleicht peut peuvent
        puede pueden pode podem può possono kunnen mogen misschien kanske может могут возможно
    past früher damals ehemals autrefois jadis antes antigamente vroeger tidigare förr раньше
"""
SENSE_OF: Final = {
    word: line.split()[0] for line in re.split(r"\n {4}(?! )", _SENSES.strip()) for word in line.split()
}
# Of these a rewording may do without one ("is due", "has to be handed in"), an addition may not.
MUST_WORDS: Final = words("""
    must should shall muss müssen soll sollen doit doivent debe deben deve devem devono moet moeten måste
    должен должна должны нужно надо
""")
# Before "to" these say must; and "he used to live there", but "the script is used to roll back".
OBLIGED: Final = words("have has had need needs ought")
BEING: Final = words("is am are was were be been being get gets got")
WILL_WORDS: Final = words("will would")
# Forms of being and having: now in one text and then in the other decides.
_TENSES: Final = """
    am is are / was were
    has have / had
    does do / did
    bin bist ist sind / war warst waren
    hat habe haben / hatte hatten
    suis es est sommes sont / étais était étions étaient fut
    ai a avons ont / avais avait avions avaient
    soy eres es somos son está están estoy / era eras éramos eran fue fueron estaba estaban
    sou é somos são está estão estou / era eram foi foram estava estavam
    tem têm tenho / tinha tinham teve
    sono sei è siamo / ero era eravamo erano fu
    ha hanno ho abbiamo / aveva avevano avevo
    zijn is ben bent / was waren
    heeft hebben heb / had hadden
    är / var
    har / hade
    есть / был была было были
"""
TENSES: Final = tuple(
    (words(now), words(then)) for now, then in (line.split("/") for line in _TENSES.strip().splitlines())
)
# How regular verbs end in the past. Compared only between forms of one word.
PAST_ENDS: Final = {
    "english": "ed",
    "german": "[^t]ten?",
    "french": "ai[st]|aient",
    "spanish": "aba[ns]?|ía[ns]?|ó|aron|ieron",
    "portuguese": "ava[sm]?|ia[sm]?|ou|aram|eram|iram",
    "italian": "[aei]v[aoi]|[aei]vano",
    "dutch": "[td]en?",
    "swedish": "[dt]e",
    "russian": "л[аои]?",
}
# Words that come and go with the way a sentence is built: articles, forms of being and having, verbs that say
# little, what points at something named already.
NEUTRAL: Final = {
    "english": words("""
        a an the this that these those which who whom what where it there here is am are was were be been
        being do does did has have had having get gets got also now still then
        come comes give given gives make makes made called because
    """),
    "german": words("""
        der die das den dem des ein eine einen einem einer eines es da ist sind bin bist war waren wird
        werden wurde wurden worden sein hat haben habe hatte hatten dass auch jetzt noch
    """),
    "french": words("""
        le la les un une des est sont suis es était étaient été être a ont ai avons avait avaient ce cette ces
        que qui ne se il y c l d j
    """),
    "spanish": words("""
        el la los las un una unos unas es son soy está están estoy era eran fue ha han he había este esta esto
        que se ser lo
    """),
    "portuguese": words("""
        o os a as um uma uns umas é são sou está estão estou era eram foi tem têm há que se isso este esta
    """),
    "italian": words(
        "il lo la gli i le un uno una è sono era erano ha hanno ho aveva che si ci l questo questa"
    ),
    "dutch": words("""
        de het een is zijn ben was waren wordt worden werd heeft hebben heb had er dat die deze dit ook nu
    """),
    "swedish": words("en ett den det de är var har hade som att också nu"),
    "russian": words("это был была было были есть"),
}
# A list reads alike from both ends.
LISTING_WORDS: Final = words("and or und oder et ou y e o ed en of och eller и или")
