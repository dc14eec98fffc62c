"""A new job, a new home: a text that ends what an older one tells."""

from __future__ import annotations

import pytest

from memory.single_facts import ends, subject


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Google", "I just joined Microsoft"),
        ("I work at Google", "I have a new job at Microsoft"),
        ("I'm an engineer at Google", "I quit last week"),
        ("Alice works for Google", "Alice joined Microsoft in May"),
        ("My sister works at Google", "My sister now works at Microsoft"),
        ("The user works at Google", "I started working at Microsoft"),
        ("I joined Google in 2019", "I joined Microsoft yesterday"),
        ("I live in Berlin", "We moved to Lisbon last week"),
        ("My flat is in Berlin", "I relocated to Lisbon"),
        ("Bob lives in Berlin", "Bob now lives in Lisbon"),
        ("Ich arbeite bei Siemens", "Ich habe eine neue Stelle bei Bosch"),
        ("Ich wohne in Hamburg", "Ich bin nach Bremen umgezogen"),
        ("Je travaille chez Renault", "J'ai rejoint Peugeot"),
        ("J'habite à Lyon", "J'ai déménagé à Nantes"),
        ("Trabajo en Google", "Ahora trabajo en Microsoft"),
        ("Vivo en Madrid", "Me mudé a Bilbao"),
        ("Trabalho na Google", "Comecei a trabalhar na Microsoft"),
        ("Moro em Lisboa", "Agora moro no Porto"),
        ("I work at Google", "i just joined microsoft"),
        ("I work at Google", "I'm now working at Microsoft"),
        ("I work at Google", "As of Monday I work for Microsoft"),
        ("I work at Google", "Got a job at Microsoft!"),
        ("I work at Google", "I joined a startup called Acme"),
        ("I work at Google", "I left Google for a while"),
        ("I work at Google", "Today I started at Microsoft"),
        ("I work at Google", "I switched jobs, now at Microsoft"),
        ("I am a data scientist at Google", "I just joined Microsoft"),
        ("User works at Google", "The user's new employer is Microsoft"),
        ("I live in Berlin", "I'm now living in Lisbon"),
        ("I live in Berlin", "I moved from Berlin to Lisbon"),
        ("Ich arbeite bei Siemens", "Seit Montag arbeite ich bei Bosch"),
        ("J’habite à Lyon", "J’ai déménagé à Nantes"),
        ("Je travaille chez Renault", "Je viens de rejoindre Peugeot"),
        ("Trabajo en Google", "Acabo de unirme a Microsoft"),
        ("Moro em Lisboa", "Mudei-me para o Porto"),
    ],
)
def test_a_change_ends_the_state_before_it(old: str, new: str) -> None:
    assert ends(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I work at Google", "I like Microsoft Word"),
        ("I work at Google", "I joined a band"),
        ("I work at Google", "I joined the Berlin chess club"),
        ("I work at Google", "My sister just joined Microsoft"),
        ("Alice works at Google", "Bob joined Microsoft"),
        ("Alice works at Google", "I joined Microsoft"),
        ("I like Google Maps", "I just joined Microsoft"),
        ("I live in Berlin", "I just joined Microsoft"),
        ("I just joined Microsoft", "I just joined Microsoft"),
        ("I work at Google", "I quit smoking"),
        ("I work at Google", "I joined the Tuesday standup"),
        ("I work at Google", "I joined Slack channel #general"),
        ("I work at Google", "I joined Alice and Bob for a hike"),
        ("I work at Google", "I left Berlin yesterday"),
        ("I work at Google", "I don't work on Fridays"),
        ("I work at Google", "I never joined Microsoft"),
        ("I work at Google", "If I joined Microsoft I would earn more"),
        ("I work at Google", "I heard that Alice joined Microsoft"),
        ("I work at Google", "She joined Microsoft"),
        ("I work at Google", "The user's sister joined Microsoft"),
        ("I work at Google", "Last week my sister joined Microsoft"),
        ("I work at Google", "A new job in the queue failed"),
        ("note on the work at the site", "I just joined Microsoft"),
        ("I work with Docker", "The printer now works with Linux"),
        ("The build works with Python 3.11", "The build no longer works with Python 3.12"),
        ("I live in Berlin", "The meeting moved to Tuesday"),
        ("I live in Berlin", "They moved to Lisbon"),
        ("I live in Berlin", "I moved the file to /tmp"),
        ("Ich arbeite bei Siemens", "Er hat eine neue Stelle bei Bosch"),
        ("Vivo en Madrid", "Ella se mudó a Bilbao"),
        ("", ""),
    ],
)
def test_what_is_about_another_thing_or_person_ends_nothing(old: str, new: str) -> None:
    assert not ends(old, new)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("I work at Google", "me"),
        ("We moved to Lisbon", "me"),
        ("Moved to Lisbon", "me"),
        ("My new job is at Google", "me"),
        ("My sister works at Google", "sister"),
        ("Alice joined Microsoft", "alice"),
        ("Morgan works at Google", "morgan"),
        ("Vivian moved to Lisbon", "vivian"),
        ("The user works at Google", "me"),
        ("The user's sister works at Google", "sister"),
        ("In May, Bob moved to Lisbon", "bob"),
        ("The server moved to Dublin", "server"),
        ("He joined Microsoft", "he"),
        ("", "me"),
        ("42", "me"),
    ],
)
def test_whom_a_sentence_is_about(text: str, who: str) -> None:
    assert subject(text) == who
