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
        ("Alice works at Google in Zurich since 2019.", "Alice works at Google in Zurich."),
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
