"""Near in words, different in fact."""

from __future__ import annotations

import pytest

from memory.changes import disagreement, is_mostly_latin


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("The office has 3 meeting rooms.", "The office has 4 meeting rooms.", "number"),
        ("The team has two testers.", "The team has three testers.", "number"),
        ("The API listens on 8080.", "The API listens on 8443.", "number"),
        ("The build uses version 1.2.3.", "The build uses version 1.2.4.", "number"),
        ("The release is on Monday.", "The release is on Tuesday.", "date"),
        ("The audit takes place in March.", "The audit takes place in April.", "date"),
        ("Réunion le lundi avec le client.", "Réunion le mardi avec le client.", "date"),
        ("Alice works at Google in Zurich.", "Alice works at Microsoft in Zurich.", "name"),
        ("Alice owns the deploy script.", "Bob owns the deploy script.", "name"),
        ("Tickets go to the queue Billing.", "Tickets go to the queue Support.", "name"),
        ("The cache is enabled on staging.", "The cache is disabled on staging.", "negation"),
        ("The user likes dark mode.", "The user does not like dark mode.", "negation"),
        ("The user eats meat.", "The user doesn't eat meat.", "negation"),
        ("The user prefers dark mode.", "The user prefers light mode.", "negation"),
        ("用户喜欢咖啡。", "用户不喜欢咖啡。", "negation"),
        ("The freezer runs at 5 degrees.", "The freezer runs at -5 degrees.", "number"),
        ("The freezer runs at 5 degrees.", "The freezer runs at \u22125 degrees.", "number"),
        ("The licence costs $50 a month.", "The licence costs €50 a month.", "number"),
        ("The alarm rings at >30 degrees.", "The alarm rings at <30 degrees.", "number"),
        ("The standup is at 3 am.", "The standup is at 3 pm.", "negation"),
        ("Alice owes Bob fifty dollars.", "Bob owes Alice fifty dollars.", "name"),
    ],
)
def test_a_changed_fact_is_seen(old: str, new: str, differs: str) -> None:
    assert disagreement(new, old) == differs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Dogs descend from wolves.", "Dogs descend from wolves!"),
        ("The user prefers tea.", "User prefers tea."),
        ("The release is on Monday morning.", "On Monday morning is the release."),
        ("Deploys happen on Fridays.", "deploys happen on fridays"),
        ("The user never eats meat.", "The user doesn't eat meat."),
        ("Alice works at Google in Zurich.", "In Zurich Alice works at Google."),
        ("It takes 2-3 days with COVID-19.", "With COVID-19, it takes 2-3 days."),
        ("I am at the desk at 3 pm.", "At 3 pm I am at the desk."),
    ],
)
def test_the_same_fact_in_other_words_is_no_change(old: str, new: str) -> None:
    assert disagreement(new, old) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The limit is 5 and the floor is 7.", "The limit is now 7 and the floor is 5."),
        ("We deploy the backend every week.", "We deploy the backend every other week."),
        ("Peter is the manager of maria.", "Maria is the manager of peter."),
        ("Alice is allowed in but bob is not allowed in.", "Bob is allowed in but alice is not allowed in."),
        ("I live in a small house near the lake.", "I used to live in a small house near the lake."),
        ("He is married to Julia.", "He was married to Julia."),
        ("Anna may deploy the billing service.", "Only Anna may deploy the billing service."),
        ("Bob finished the migration yesterday.", "Bob almost finished the migration yesterday."),
        ("We have all the keys to the office.", "We have some of the keys to the office."),
        ("I am allergic to peanuts and shrimp.", "I am allergic to shrimp."),
        ("Ich habe keinen Hund und keine Katze.", "Ich habe einen Hund und keine Katze."),
        (
            "Use https for the api, and http for health checks.",
            "Use http for the api, and https for health checks.",
        ),
        ("I live in Berlin.", "I lived in Berlin."),
        ("The limit is 5, floor 7.", "Limit: 7, floor: 5."),
        ("Ich wohne in Köln.", "Ich wohnte in Köln."),
        ("Nous déployons chaque lundi.", "Nous déployons un lundi sur deux."),
        ("Ana es la jefa de luis.", "Luis es el jefe de ana."),
        ("The key lies in the drawer.", "The key lies under the drawer."),
        ("I do not like tea and I like coffee.", "I like tea and I do not like coffee."),
        ("We moved from lisbon to porto.", "We moved from porto to lisbon."),
        ("I only eat fish.", "Only I eat fish."),
        ("She prefers tea over coffee.", "She prefers coffee over tea."),
        ("He is married.", "She is married."),
        ("Marta can approve invoices.", "Marta must approve invoices."),
        ("The shop is open on Saturdays.", "The shop is open on Saturdays in winter."),
        ("The shop is open on Saturdays in winter.", "The shop is open on Saturdays."),
        ("Das Büro ist früher um acht offen gewesen.", "Das Büro ist um acht offen."),
        ("Anna deploys the service.", "Anna should deploy the service."),
        ("Anna deploys the service.", "Anna has to deploy the service."),
        ("Il gatto dorme nella cucina.", "Il gatto dormiva nella cucina."),
        ("Tutti i test passano.", "Alcuni test passano."),
        ("Todos los servidores usan Debian.", "Casi todos los servidores usan Debian."),
        ("De server staat aan.", "De server staat niet aan."),
        ("Dogs chase cats.", "Cats chase dogs."),
        ("I like tea but not coffee.", "I like coffee but not tea."),
        ("Backups run hourly.", "Backups run nightly."),
        ("The invoice is always sent by email.", "The invoice is usually sent by email."),
        (
            "Bob is responsible for the api and Ann for the website.",
            "Ann is responsible for the api and Bob for the website.",
        ),
        (
            "The api is written in go and the website in rust.",
            "The api is written in rust and the website in go.",
        ),
        ("We meet before lunch.", "We meet after lunch."),
        ("Nobody but Carl may merge.", "Carl may not merge."),
        ("Carl may merge into main.", "Nobody but Carl may merge into main."),
        (
            "The staging database is bigger than the production database.",
            "The production database is bigger than the staging database.",
        ),
        ("Invoices are sent to Ann and paid by Bob.", "Invoices are sent to Bob and paid by Ann."),
        (
            "I take the train to work in summer and the bike in winter.",
            "I take the bike to work in summer and the train in winter.",
        ),
        ("Wir treffen uns jede Woche.", "Wir treffen uns jede zweite Woche."),
        ("Lena ist die Chefin von jonas.", "Jonas ist der Chef von lena."),
        ("Ich war Lehrer in Bremen.", "Ich bin Lehrer in Bremen."),
        ("Nur Anna darf deployen.", "Anna darf deployen."),
        ("Il habite à Paris.", "Il habitait à Paris."),
        ("J'ai un chien et un chat.", "J'ai un chat."),
        ("Vivo en Madrid con mi hermana.", "Vivía en Madrid con mi hermana."),
        ("Moro em Lisboa.", "Morava em Lisboa."),
        ("Hij woont in Utrecht.", "Hij woonde in Utrecht."),
        ("Он живёт в Москве.", "Он жил в Москве."),
        ("The server has 16 GB and the laptop 32 GB.", "The server has 32 GB and the laptop 16 GB."),
        ("Half of the tests pass.", "Most of the tests pass."),
        ("Ann thinks Bob is right.", "Bob thinks Ann is right."),
        ("The door must be locked at night.", "The door may be locked at night."),
        (
            "The report goes to sales first, then to finance.",
            "The report goes to finance first, then to sales.",
        ),
        ("My brother's car is red.", "My brother's bike is red."),
        ("My sister lives in Rome.", "My brother lives in Rome."),
        ("Use tabs in makefiles and spaces in python.", "Use spaces in makefiles and tabs in python."),
        ("Nearly everyone passed the exam.", "Everyone passed the exam."),
        ("If the build fails, deploys stop.", "If deploys stop, the build fails."),
        ("The meeting starts at 9 and ends at 10.", "The meeting starts at 10 and ends at 9."),
        ("I am moving to Berlin.", "I moved to Berlin."),
        ("I have never been to Japan.", "I have been to Japan."),
        (
            "The key is in Ann's desk, the card is in Bob's.",
            "The card is in Ann's desk, the key is in Bob's.",
        ),
        ("The user is a vegetarian.", "The user is a former vegetarian."),
        ("He will join the team.", "He joined the team."),
        ("The cat is older than the dog.", "The dog is older than the cat."),
        ("Version 2 of the api is stable.", "Version 2 of the api was stable."),
        (
            "The password policy requires at least twelve characters.",
            "The password policy requires at most twelve characters.",
        ),
        ("We use the old server.", "We use the new server."),
        ("Peter manages maria.", "Maria manages peter."),
        ("Alice works at Google in Zurich since 2019.", "Alice works at Google in Zurich."),
    ],
)
def test_neither_of_two_facts_in_nearly_the_same_words_is_lost(one: str, other: str) -> None:
    assert disagreement(other, one) is not None
    assert disagreement(one, other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The lead is Marta.", "Marta is the lead."),
        ("I like tea and coffee.", "I like coffee and tea."),
        ("Yesterday Bob finished the migration.", "Bob finished the migration yesterday."),
        ("The tests are run in every build.", "In each build the tests are run."),
        ("He's married to Julia.", "He is married to Julia."),
        ("I no longer smoke.", "I don't smoke anymore."),
        ("Am Montag ist das Büro geschlossen.", "Das Büro ist am Montag geschlossen."),
        ("Le bureau est fermé le lundi.", "Le lundi, le bureau est fermé."),
        ("Los viernes desplegamos la web.", "Desplegamos la web los viernes."),
        ("A segunda-feira o escritório está fechado.", "O escritório está fechado a segunda-feira."),
        ("In ufficio lavoro il martedì.", "Il martedì lavoro in ufficio."),
        (
            "The platform team deploys the billing service.",
            "The billing service is deployed by the platform team.",
        ),
        (
            "The plumber from the village repaired the heating.",
            "The heating was repaired by the plumber from the village.",
        ),
        ("Travel costs must be handed in.", "Travel costs have to be handed in."),
        ("The weekly report is sent on Fridays by Ann.", "Ann sends the weekly report on Fridays."),
        ("The weekly report is sent by Ann on Fridays.", "On Fridays the weekly report is sent by Ann."),
        ("Bob's favourite language is Rust.", "Rust is Bob's favourite language."),
        (
            "Our office is closed between Christmas and New Year.",
            "Between Christmas and New Year our office is closed.",
        ),
        ("Ann and Bob review pull requests.", "Bob and Ann review pull requests."),
        (
            "The standup takes place at nine in the kitchen.",
            "At nine the standup takes place in the kitchen.",
        ),
        ("We store logs for thirty days in S3.", "Logs are stored in S3 for thirty days."),
        ("I can't eat nuts.", "I cannot eat nuts."),
        ("She does not drink coffee.", "She doesn't drink coffee."),
        ("Every customer gets an invoice each month.", "Each customer gets an invoice every month."),
        ("La base de datos está en Madrid.", "En Madrid está la base de datos."),
        (
            "Le serveur est redémarré chaque nuit par le script.",
            "Chaque nuit, le script redémarre le serveur.",
        ),
    ],
)
def test_a_sentence_built_in_another_way_is_no_change_from_either_side(one: str, other: str) -> None:
    assert disagreement(other, one) is None
    assert disagreement(one, other) is None


def test_every_text_agrees_with_itself() -> None:
    for text in ("", "a", "Bob paid 3.50 EUR on Monday, not Tuesday.", "即适者生存"):
        assert disagreement(text, text) is None


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("Dogs bark", True),
        ("Größe über alles", True),
        ("即适者生存", False),
        ("Собаки лают", False),
        ("42", False),
        ("🦊🦊🦊 🎉", False),
    ],
)
def test_scripts_are_told_apart(text: str, *, latin: bool) -> None:
    assert is_mostly_latin(text) is latin
