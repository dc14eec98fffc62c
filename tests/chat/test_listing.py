from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from crewsite.chat.connected import connected
from crewsite.chat.listing import LIST_ROWS, conversation_list, excerpt, surfaces_of
from crewsite.conversations.branches import branch_leave
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_append
from crewsite.security.origin import Surface
from memory.services import semantic_write
from tests.factories import EXPLICIT, make_conversation, make_member, make_workspace

if TYPE_CHECKING:
    from django.test import Client

    from crewsite.accounts.models import User, Workspace
    from crewsite.chat.listing import Listing

pytestmark = pytest.mark.django_db


def said(user: User, home: Workspace, title: str, text: str) -> Message:
    talk = make_conversation(user, home, title=title)
    return message_append(conversation=talk, role=Message.Role.USER, content=text, author=user)


def titles(listing: Listing) -> list[str]:
    return [item.conversation.title for group in listing.groups for item in group.items]


def test_rows_stand_under_their_day_pinned_ones_first(alice: User, home: Workspace) -> None:
    for title, days in (("old", 100), ("new", 0), ("pinned", 50)):
        row = make_conversation(alice, home, title=title, pinned=title == "pinned")
        at = timezone.now() - timedelta(days=days)
        Conversation.objects.filter(pk=row.pk).update(last_activity_at=at)
    listing = conversation_list(alice)
    assert [group.label for group in listing.groups] == ["Pinned", "Today", "Older"]
    assert titles(listing) == ["pinned", "new", "old"]


def test_a_long_list_is_shown_in_pages(alice: User, home: Workspace) -> None:
    for number in range(LIST_ROWS + 1):
        make_conversation(alice, home, title=str(number))
    first = conversation_list(alice)
    assert (len(titles(first)), first.more) == (LIST_ROWS, 2 * LIST_ROWS)
    rest = conversation_list(alice, rows=first.more)
    assert (len(titles(rest)), rest.more) == (LIST_ROWS + 1, 0)


@pytest.mark.sqlite_only
def test_words_are_found_apart_and_in_another_form_with_their_place(alice: User, home: Workspace) -> None:
    said(alice, home, "Colours", "this year the buoys are painted vermilion")
    said(alice, home, "Other", "nothing of the kind")
    listing = conversation_list(alice, "vermilion paint")
    assert titles(listing) == ["Colours"]
    assert "vermilion" in listing.groups[0].items[0].excerpt


def test_titles_come_before_what_was_said(alice: User, home: Workspace) -> None:
    said(alice, home, "Harbour plan", "one")
    said(alice, home, "Lunch", "we eat at the harbour")
    listing = conversation_list(alice, "harbour")
    assert [group.label for group in listing.groups] == ["In titles", "In what was said"]
    assert titles(listing) == ["Harbour plan", "Lunch"]


def test_nobody_finds_what_others_said_nor_what_is_on_a_hidden_branch(
    alice: User, bob: User, home: Workspace
) -> None:
    secret = said(alice, home, "Mine", "the password of the harbour office")
    assert titles(conversation_list(bob, "harbour")) == []
    branch_leave(secret)
    assert titles(conversation_list(alice, "harbour")) == []


def test_an_excerpt_is_a_line_around_the_word() -> None:
    text = "first line\n" + "filler " * 40 + "the needle is here " + "more " * 40
    found = excerpt(text, "NEEDLE")
    assert "needle is here" in found
    assert found.startswith("…")
    assert found.endswith("…")
    assert len(found) < 100


def test_a_conversation_says_where_it_came_from_and_the_list_narrows_to_it(
    alice: User, home: Workspace, client: Client
) -> None:
    said(alice, home, "Typed on the page", "about herons")
    assert surfaces_of(alice) == []
    other = said(alice, home, "Asked by a program", "about herons too").conversation
    Conversation.objects.filter(pk=other.pk).update(surface=Surface.API)
    assert surfaces_of(alice) == [("web", "Web chat"), ("api", "API")]
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get("/chat/").content.decode()
    assert page.count('title="Where this conversation came from">API<') == 1
    for query in ("", "herons"):
        rows = client.get("/chat/list/", {"from": "api", "q": query}).content.decode()
        assert "Asked by a program" in rows
        assert "Typed on the page" not in rows
    assert "Typed on the page" in client.get("/chat/list/?from=nonsense").content.decode()


def test_a_search_and_the_empty_page_ask_no_more_for_workspaces_without_a_conversation(
    alice: User, home: Workspace
) -> None:
    said(alice, home, "Mine", "we eat at the harbour")
    make_member(alice, make_workspace("guest"))

    def asked() -> list[int]:
        counts = []
        for ask in (lambda: titles(conversation_list(alice, "harbour")), lambda: connected(alice)):
            ask()
            with CaptureQueriesContext(connection) as queries:
                ask()
            counts.append(len(queries))
        return counts

    before = asked()
    for number in range(8):
        make_member(alice, make_workspace(f"guest{number}", is_isolated=number % 2 == 0))
    assert asked() == before
    assert titles(conversation_list(alice, "harbour")) == ["Mine"]


def test_the_empty_page_counts_the_memory_of_every_home_once(alice: User, home: Workspace) -> None:
    near, far = make_workspace("near"), make_workspace("far", is_isolated=True)
    guest = make_workspace("guest", memory_home=far)
    for workspace in (near, guest):
        make_member(alice, workspace)
    for place, key in ((home, "a"), (far, "b"), (make_workspace("other", is_isolated=True), "c")):
        semantic_write(home=place, key=f"pref.{key}", value="x", origin=EXPLICIT)
    assert "2 facts" in connected(alice)[-1].text
