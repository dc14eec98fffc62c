"""A new job, a new home: a text that ends what an older one tells."""

from __future__ import annotations

import pytest

from memory.single_facts import changed, over, subject


def ends(old: str, new: str) -> bool:
    return any(over(topic, old, change=new) for topic in changed(new))


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
        ("", "me"),
        ("42", "me"),
    ],
)
def test_whom_a_sentence_is_about(text: str, who: str) -> None:
    assert subject(text) == who
