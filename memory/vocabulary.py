"""Word lists: function words by language, and the words that make two nearly equal texts say different things. Data only."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The commonest function words of the languages people are likely to write in; enough to tell them apart, and the
# words a search may leave out. Short on purpose: a word that is content in another language is not here.
FUNCTION_WORDS: Final[dict[str, frozenset[str]]] = {
    "english": _words("""
        a an and are as at be been but by can could did do does for from had has have he her his how i in
        is it its just me my not of on or our she should so than that the their them then there these they
        this those to was we were what when where which who why will with would you your
    """),
    "french": _words("""
        au aux avec ce ces cette dans de des du elle en est et il ils je la le les leur lui ma mais mes
        mon ne nous on ou par pas pour que qui sa se ses son sont sur ta te tes toi tu un une vos votre
        vous était être
    """),
    "german": _words("""
        aber als am an auf aus bei bin bis das dass dein dem den der des die du ein eine einem einen einer
        er es für hat ich ihr im in ist ja kein keine mein mit nach nicht noch nur oder sich sie sind und
        uns von war was wenn wie wir wird zu zum zur über
    """),
    "spanish": _words("""
        al como con cuando de del desde donde el ella ellos en era es esta este esto está fue ha hay la
        las le lo los me mi muy más no nos o para pero por que qué se ser si sin sobre su sus también te
        tu un una y ya yo
    """),
    "portuguese": _words("""
        ao aos as com como da das de do dos e ela ele em era essa esse esta este eu foi há isso mais mas
        me meu minha muito na nas no nos não o os ou para pela pelo por que se sem ser seu sua são também
        te um uma você
    """),
    "italian": _words("""
        ai al alla anche che chi ci come con da dal dalla degli dei del della di e è era gli ha hanno ho i
        il in io la le lo ma mi mio nel nella non o per però perché più quando questo se si sono su sul
        tra tu un una uno
    """),
    "dutch": _words("""
        aan als bij dat de der die dit een en er haar heb heeft hem het hij hoe ik in is je kan maar met
        mijn naar niet nog of om ook op over te tot uit van voor was wat we wel wij worden wordt ze zij
        zijn
    """),
    "russian": _words("""
        а без бы был была было в вы да для до его ее если же за и из или к как мы на не но о он она они от
        по с так то ты у что это я
    """),
}

NUMBER_WORDS: Final = _words("""
    two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand once
    twice half deux trois quatre cinq zwei drei vier fünf sechs sieben acht neun zehn dos tres cuatro
    cinco seis siete ocho
""")
DATE_WORDS: Final = _words("""
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december today tomorrow yesterday tonight morning afternoon evening
    weekly daily monthly yearly lundi mardi mercredi jeudi vendredi samedi dimanche montag dienstag
    mittwoch donnerstag freitag samstag sonntag lunes martes miércoles jueves viernes sábado domingo
    demain hier heute morgen gestern mañana ayer
""")
NEGATIONS: Final = _words("""
    no not never none nobody nothing without cannot neither nor stopped quit former formerly anymore pas
    jamais aucun aucune sans nicht kein keine keinen keiner nie ohne nunca jamás sin não nem senza mai не
    нет без никогда
""")

# Words that turn a sentence round without a negation: one of a pair in one text and the other in the other decides.
OPPOSITES: Final = tuple(
    pair.split("/")
    for pair in """
        on/off enabled/disabled enable/disable open/closed likes/dislikes like/dislike loves/hates
        love/hate passed/failed passes/fails up/down increase/decrease increased/decreased
        started/finished allowed/forbidden true/false dark/light before/after above/below more/less
        first/last accepted/rejected approved/rejected added/removed public/private manual/automatic
        left/right won/lost bought/sold joined/left
    """.split()
)
