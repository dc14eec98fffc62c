"""Words that make two nearly equal texts say different things:
numbers, dates, negations, opposites. Data only.
"""

from __future__ import annotations

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
    no not never none nobody nothing without cannot neither nor stopped quit former formerly anymore pas
    jamais aucun aucune sans nicht kein keine keinen keiner nie ohne nunca jamás sin não nem senza mai не
    нет без никогда
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
# Words whose two sides are not alike: changing places around them changes what is said.
ORDERING_WORDS: Final = words("over than before after instead from to into beats replaces")
