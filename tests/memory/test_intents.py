from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.intents import classify, detect, forget_query, states_something


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("remember to always use pytest", "always use pytest"),
        ("Please remember to answer in French!", "answer in French"),
        ("always use tabs", "always use tabs"),
        ("Never push to main.", "Never push to main"),
        ("From now on, answer briefly", "answer briefly"),
        ("can you remember to use tabs?", "use tabs"),
        ("remember that you must not force push", "you must not force push"),
        ("N'oublie pas d'utiliser pytest", "utiliser pytest"),
        ("Utilise toujours pytest", "Utilise toujours pytest"),
        ("Ne pousse jamais sur main", "Ne pousse jamais sur main"),
        ("Désormais, réponds en anglais", "réponds en anglais"),
        ("Merk dir: immer pytest verwenden", "immer pytest verwenden"),
        ("Verwende immer pytest", "Verwende immer pytest"),
        ("Ab jetzt antworte auf Deutsch", "antworte auf Deutsch"),
        ("Siempre usa pytest", "Siempre usa pytest"),
        ("Usa siempre pytest", "Usa siempre pytest"),
        ("A partir de ahora responde en español", "responde en español"),
        ("Lembra-te de usar pytest", "usar pytest"),
        ("Nunca uses unittest", "Nunca uses unittest"),
        ("A partir de agora, responde em português", "responde em português"),
    ],
)
def test_a_standing_order_is_a_rule(message: str, rule: str) -> None:
    intent = detect(message)
    assert intent is not None
    assert (intent.kind, intent.text) == ("rule", rule)


@pytest.mark.parametrize(
    ("message", "key", "value"),
    [
        ("Remember that my editor is vim.", "user.editor", "vim"),
        ("remember: our staging host is atlas", "project.staging_host", "atlas"),
        ("remember that our staging server is called heron", "project.staging_server", "heron"),
        ("Remember that my dog is named Rex.", "user.dog", "Rex"),
        ("note that our production server is called eagle", "project.production_server", "eagle"),
        ("My dog is named Rex, please remember that!", "user.dog", "Rex"),
        ("our staging host is atlas. Don't forget it.", "project.staging_host", "atlas"),
        ("Souviens-toi que mon éditeur est vim", "user.editeur", "vim"),
        ("Merke dir, meine Lieblingsfarbe ist blau", "user.lieblingsfarbe", "blau"),
        ("Recuerda que mi editor es vim", "user.editor", "vim"),
        ("Lembre-se que o meu editor é vim", "user.editor", "vim"),
    ],
)
def test_a_named_fact_gets_a_key(message: str, key: str, value: str) -> None:
    intent = detect(message)
    assert intent is not None
    assert (intent.kind, intent.key, intent.value) == ("fact", key, value)


def test_any_other_statement_to_keep_is_an_episode() -> None:
    intent = detect("Remember that the release went out on Friday evening")
    assert intent is not None
    assert (intent.kind, intent.text) == ("episode", "the release went out on Friday evening")


def test_a_liking_is_a_preference() -> None:
    assert classify("I prefer dark mode").category == "preference"


@pytest.mark.parametrize(
    "message",
    [
        "Do you remember my name?",
        "What is my name? I cannot remember it",
        "is the host called atlas? remember that",
        "I can never remember that",
        "The config is wrong, fix it and save it.",
        "The parser is slow. Please rewrite it and store it.",
        "The password is somewhere, I do not remember it",
        "take note",
        "Remember when we met",
        "Remember the costs",
        "Remember that scene in Alien",
        "remember",
        "Never mind",
        "I always forget this",
        "Ich habe immer Hunger",
        "Il est toujours en retard",
        "What is always true?",
        "I work at Google",
        "Yo siempre llego tarde",
        "Ela sempre chega tarde",
        "x" * 5_000,
        "   ",
    ],
)
def test_questions_and_remarks_are_no_requests(message: str) -> None:
    assert detect(message) is None


@given(st.text())
def test_no_text_breaks_the_detector(text: str) -> None:
    intent = detect(text)
    assert intent is None or intent.text


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ("Hi! Remember to always use pytest.", "rule", "always use pytest"),
        ("Ok, never use tabs", "rule", "never use tabs"),
        ("Thanks. From now on, answer in French, please.", "rule", "answer in French"),
        ("Please always answer in French", "rule", "always answer in French"),
        ("Hello. Please remember that my name is Anna. Thanks!", "fact", "my name is Anna"),
        ("Remember that my name is Anna. What is the capital of France?", "fact", "my name is Anna"),
        ("can you remember that my editor is helix?", "fact", "my editor is helix"),
        ("remember this: the staging host is atlas", "episode", "the staging host is atlas"),
        ("Remember that lunch costs 12 euros.", "episode", "lunch costs 12 euros"),
        ("Remember that Ana left", "episode", "Ana left"),
        ("I want you to remember that I am vegetarian", "episode", "I am vegetarian"),
        ("remember not to use mocks", "rule", "do not use mocks"),
        ("Never use emojis. And always be short.", "rule", "Never use emojis. And always be short"),
    ],
)
def test_what_people_say_around_a_request_is_not_kept(message: str, kind: str, text: str) -> None:
    intent = detect(message)
    assert intent is not None
    assert (intent.kind, intent.text) == (kind, text)


@pytest.mark.parametrize(
    "message",
    [
        "never again!",
        "Always a pleasure!",
        "Never gonna give you up",
        "Nie wieder Krieg",
        "Immer mit der Ruhe",
        "siempre lo mismo",
        "Toujours pareil",
        "jamais vu",
        "remember that",
        "Remember that time we broke prod",
        "Can you remember what I said yesterday?",
        "He said: remember to use pytest.",
        "Do not remember my address",
    ],
)
def test_a_saying_or_a_memory_is_no_request(message: str) -> None:
    assert detect(message) is None


def test_a_value_that_goes_on_with_another_statement_is_kept_as_it_was_said() -> None:
    text = "my wife's name is Eve and my son's name is Tom"
    assert classify(text).kind == "episode"
    assert classify("my name is Anna. I live in Paris").text == "my name is Anna. I live in Paris"
    assert classify("my wife's name is Eve").key == "user.wife_name"


def test_what_shall_be_forgotten_is_named() -> None:
    assert forget_query("Please forget my name.") == "my name"
    assert forget_query("forget that my editor is vim") == "my editor is vim"
    assert forget_query("forget it") == forget_query("I forget things") == ""


@pytest.mark.parametrize(
    ("message", "tells"),
    [
        ("actually the staging server is called otter", True),
        ("we moved to Lisbon", True),
        ("which server is staging", False),
        ("what is our staging server called?", False),
        ("tell me what the staging server is", False),
        ("staging server", False),
    ],
)
def test_a_statement_is_told_from_a_question(message: str, tells: bool) -> None:
    assert states_something(message) is tells
