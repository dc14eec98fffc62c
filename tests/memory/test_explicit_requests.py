"""What counts as an explicit request, language by language: real ones, and texts that only look like one."""

from __future__ import annotations

import pytest

from memory.intents import detect

REQUESTS = {
    "en": [
        "Remember to run the linter before every commit.",
        "Please remember that the staging host is called atlas",
        "Always use pytest for new tests",
        "Never push to main!",
        "Never expose port 8080 to the outside",
        "Always discuss the schema with Marta first",
        "From now on, answer in French",
        "from now on you should call me Ada",
        "Ok, going forward, keep answers under five lines.",
        "Don't forget to tag the release",
        "You must never delete a branch without asking",
    ],
    "fr": [
        "Souviens-toi de lancer les tests avant de pousser",
        "N'oublie pas que le serveur de test est atlas",
        "Utilise toujours pytest",
        "Ne pousse jamais sur main",
        "Toujours répondre en français, s'il te plaît",
        "Jamais utiliser eval dans ce projet",
        "Désormais, réponds en anglais",
        "À partir de maintenant, tutoie-moi",
    ],
    "de": [
        "Merk dir: immer pytest verwenden",
        "Vergiss nicht, dass der Testserver atlas heißt",
        "Verwende immer pytest",
        "Immer die Tests vor dem Commit ausführen",
        "Niemals direkt auf main pushen",
        "Ab jetzt antworte auf Deutsch",
        "Von nun an schreibe kurze Antworten",
    ],
    "es": [
        "Recuerda que el servidor de pruebas es atlas",
        "No olvides ejecutar las pruebas antes de subir",
        "Usa siempre pytest",
        "Siempre responde en español",
        "Nunca uses eval",
        "Nunca borrar ramas sin preguntar",
        "A partir de ahora responde en español",
        "De ahora en adelante, no uses tablas",
    ],
    "pt": [
        "Lembra-te de usar pytest",
        "Lembre-se que o servidor de testes é atlas",
        "Usa sempre pytest",
        "Sempre responda em português",
        "Nunca apague ramos sem perguntar",
        "A partir de agora, responda em português",
        "De agora em diante, escreva testes primeiro",
    ],
}
LOOKALIKES = {
    "en": [
        "Should I always use tabs?",
        "What does 'never use eval' mean?",
        "> always use tabs",
        "```\nalways use tabs\n```",
        "Look at this:\n```\nRemember to run the linter\n```",
        '"Always use tabs" is what the style guide says',
        "The docs say: always use tabs",
        "He said never to push to main",
        "always @(posedge clk) begin",
        "always: true",
        "# always use tabs",
        "- never use eval",
        "Never heard of it.",
        "Never happened before",
        "Always crashes when I click save",
        "Never works for me",
        "Always happens on Fridays",
        "Always being late is bad",
        "Never did I think of that",
        "Never say never",
        "Always on time!",
        "never again",
        "From now on it gets easier.",
        "from now on I work at Google",
        "From now on everything will be fine",
        "remember the Alamo",
        "Remember, remember, the fifth of November",
        "Do you remember to lock the door?",
        "I never remember to lock the door",
        "remember that scene in Alien",
        "Translate to German: never use eval",
        "Write a poem. Never use the letter e.",
    ],
    "fr": [
        "Peut-on toujours utiliser vim ?",
        "« Utilise toujours pytest », disait-il",
        "Toujours est-il que je pars",
        "Toujours la même chose",
        "Toujours pareil",
        "Jamais de la vie",
        "Jamais deux sans trois",
        "Ça ne marche jamais",
        "Fonctionne toujours très bien",
        "Marche toujours pas",
        "Désormais je travaille chez Google",
        "Désormais, tout va bien",
        "Souviens-toi l'été dernier",
        "> Ne pousse jamais sur main",
    ],
    "de": [
        "Soll ich immer pytest verwenden?",
        "„Verwende immer pytest“ stand im Wiki",
        "Immer wieder Montag",
        "Immer noch kaputt",
        "Immer diese Fehler",
        "Immer dasselbe",
        "Nie gehört",
        "Nie im Leben",
        "Niemals!",
        "Funktioniert immer noch nicht",
        "Klappt immer beim ersten Mal",
        "Ab jetzt wird alles besser",
        "Ab sofort arbeite ich bei Google",
        "Ich will immer alles wissen",
        "```\nVerwende immer pytest\n```",
    ],
    "es": [
        "¿Siempre usas pytest?",
        "¿Recuerdas mi nombre?",
        "«Usa siempre pytest», decía",
        "Siempre y cuando funcione",
        "Siempre pasa lo mismo",
        "Nunca se sabe",
        "Nunca he visto eso",
        "Nunca falla",
        "Falla siempre al arrancar",
        "Recuerdo siempre tu cara",
        "Recuerda aquel día",
        "A partir de ahora trabajo en Google",
        "> Nunca uses eval",
    ],
    "pt": [
        "Devo usar sempre pytest?",
        "“Usa sempre pytest”, dizia ele",
        "Sempre que chove",
        "Sempre que possível",
        "Sempre em frente",
        "Sempre a mesma coisa",
        "Nunca vi isso",
        "Nunca mais",
        "Nunca funciona",
        "Funciona sempre bem",
        "Lembro sempre de ti",
        "Lembra quando fomos",
        "A partir de agora trabalho no Google",
        "> Nunca use eval",
    ],
}


def cases(table: dict[str, list[str]]) -> list[object]:
    return [
        pytest.param(text, id=f"{language}-{text[:30]}")
        for language, texts in table.items()
        for text in texts
    ]


@pytest.mark.parametrize("text", cases(REQUESTS))
def test_an_explicit_request_is_found(text: str) -> None:
    assert detect(text) is not None


@pytest.mark.parametrize("text", cases(LOOKALIKES))
def test_a_text_that_only_looks_like_one_is_left_alone(text: str) -> None:
    assert detect(text) is None
