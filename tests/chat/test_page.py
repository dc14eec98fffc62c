"""The chat page as the server renders it; what happens over the socket is tested with the socket."""

from __future__ import annotations

import json
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crewsite.accounts.models import Membership, Role, User, Workspace
from crewsite.chat.models import Turn
from crewsite.chat.packet_page import packet_page
from crewsite.chat.services import turn_begin, turn_finish, turn_start
from crewsite.conversations.models import Conversation, Message
from crewsite.conversations.services import message_update
from lessons.models import Lesson
from lessons.services import lesson_write
from memory.services import episodic_delete, episodic_write, semantic_write
from tests.factories import EXPLICIT, make_conversation, make_member, make_message, make_user, make_workspace

HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) <script>alert(2)</script>"
PACKET = {
    "version": 1,
    "total_chars": 1234,
    "degraded": ["embedder_loading"],
    "blocks": [
        {
            "name": "lessons", "marker": "[Learned corrections]", "state": "trimmed", "chars": 40,
            "reason": "over the cap", "cap": 37290, "text": "Always use pytest. <b>[les:7]</b>",
            "left_out_count": 3,
            "sources": [{"kind": "lesson", "object_id": 7, "citation": "les:7", "score": 0.8125}],
            "left_out": [{"kind": "lesson", "object_id": 8, "citation": "les:8", "score": None}],
        },
        {
            "name": "episodic", "marker": "[Episodic Memory]", "state": "omitted", "reason": "nothing fits",
            "chars": 0, "cap": 3000, "text": "", "sources": [], "left_out": [], "left_out_count": 0,
        },
    ],
}  # fmt: skip


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def exchange(conversation: Conversation, question: str = "q", answer: str = "a", **turn: Any) -> Turn:
    finish = turn.pop("finish_reason", "stop")
    calls = turn.pop("tool_calls", [])
    asked = make_message(conversation, question)
    said = make_message(
        conversation, answer, role=Message.Role.ASSISTANT, finish_reason=finish, tool_calls=calls
    )
    fields = {"state": Turn.State.DONE, "client_key": str(uuid4()), **turn}
    return Turn.objects.create(
        conversation=conversation, user_message=asked, assistant_message=said, **fields
    )


@pytest.fixture
def talk(alice: User, home: Workspace) -> Conversation:
    return make_conversation(alice, home, title="How we test")


def url(talk: Conversation, name: str = "conversation") -> str:
    return reverse(f"chat:{name}", args=[talk.pk])


def test_a_stranger_and_a_fellow_member_get_404_on_every_address(
    talk: Conversation, bob: User, charlie: User
) -> None:
    turn = exchange(talk, packet=PACKET)
    context = reverse("chat:turn_context", args=[turn.pk])
    for person in (bob, charlie):
        client = signed_in(person)
        assert [client.get(address).status_code for address in (url(talk), context)] == [404, 404]
        assert [client.post(url(talk, name)).status_code for name in ("rename", "archive")] == [404, 404]
        assert "How we test" not in client.get(reverse("chat:list")).content.decode()


def test_who_left_the_workspace_loses_the_page(talk: Conversation, alice: User) -> None:
    client = signed_in(alice)
    assert client.get(url(talk)).status_code == 200
    Membership.objects.filter(user=alice).delete()
    assert client.get(url(talk)).status_code == 404


def test_the_transcript_is_on_the_page_in_order(talk: Conversation, alice: User) -> None:
    exchange(talk, "first question", "first *answer*")
    exchange(talk, "second question", "second answer")
    page = signed_in(alice).get(url(talk)).content.decode()
    positions = [
        page.index(text)
        for text in ("first question", "first <em>answer", "second question", "second answer")
    ]
    assert positions == sorted(positions)
    assert 'data-last-seq="4"' in page


def test_hostile_messages_are_inert(talk: Conversation, alice: User) -> None:
    exchange(
        talk, HOSTILE, HOSTILE, tool_calls=[{"id": "1", "name": HOSTILE, "summary": HOSTILE, "data": {}}]
    )
    page = signed_in(alice).get(url(talk)).content.decode()
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert 'href="javascript:' not in page


def test_a_hostile_title_is_inert_in_page_and_list(talk: Conversation, alice: User) -> None:
    Conversation.objects.filter(pk=talk.pk).update(title=HOSTILE)
    page = signed_in(alice).get(url(talk)).content.decode()
    assert "<img src=x" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 3


def test_an_interrupted_answer_offers_another_try(talk: Conversation, alice: User) -> None:
    exchange(talk, "q", "half an ans", finish_reason="interrupted", state=Turn.State.FAILED, retryable=True)
    page = signed_in(alice).get(url(talk)).content.decode()
    assert "half an ans" in page
    assert "Interrupted" in page
    assert '<button type="button" class="btn btn-s" data-act="retry">' in page


def test_a_failure_before_the_first_word_shows_its_reason(talk: Conversation, alice: User) -> None:
    asked = make_message(talk, "q")
    Turn.objects.create(
        conversation=talk,
        user_message=asked,
        state=Turn.State.FAILED,
        error="The key was refused.",
        client_key="k",
    )
    page = signed_in(alice).get(url(talk)).content.decode()
    assert "The key was refused." in page
    assert '<button type="button" class="btn btn-s" data-act="retry">' not in page


def test_a_running_answer_is_left_to_the_socket(talk: Conversation, alice: User) -> None:
    turn = exchange(talk, "q", "partial", state=Turn.State.RUNNING)
    page = signed_in(alice).get(url(talk)).content.decode()
    assert f'data-running="{turn.pk}"' in page
    assert "partial" not in page


def saved_lesson_card(client: Client, talk: Conversation) -> dict[str, Any]:
    page = client.get(url(talk)).content.decode()
    frame = page.split('data-frame="', 1)[1].split('"', 1)[0]
    card: dict[str, Any] = json.loads(unescape(frame))
    return card


def test_a_saved_lesson_comes_back_as_a_card_that_knows_whether_it_was_undone(
    talk: Conversation, alice: User, home: Workspace
) -> None:
    row = Lesson.objects.create(home=home, key="lesson.1", rule="Always use pytest.", source="user_explicit")
    data = {"kind": "lesson", "id": row.pk, "outcome": "inserted", "rule": row.rule}
    exchange(
        talk,
        tool_calls=[{"id": "t", "name": "learn_add", "state": "done", "args_summary": "x", "data": data}],
    )
    client = signed_in(alice)
    card = saved_lesson_card(client, talk)
    assert (card["name"], card["data"]["id"], card["gone"]) == ("learn_add", row.pk, False)
    Lesson.objects.filter(pk=row.pk).update(is_deleted=True, deleted_at=timezone.now())
    assert saved_lesson_card(client, talk)["gone"] is True


def test_long_conversations_show_their_end_first_and_all_on_demand(talk: Conversation, alice: User) -> None:
    Message.objects.bulk_create(
        Message(conversation=talk, seq=n, role=Message.Role.USER, content=f"line-{n:04}")
        for n in range(1, 261)
    )
    client = signed_in(alice)
    page = client.get(url(talk)).content.decode()
    assert "line-0260" in page
    assert "line-0060" not in page
    assert "Show the whole conversation" in page
    assert "line-0001" in client.get(url(talk) + "?all").content.decode()


def test_the_page_asks_the_same_number_of_queries_for_any_length(
    talk: Conversation, alice: User, django_assert_max_num_queries: Any
) -> None:
    client = signed_in(alice)
    client.get(url(talk))  # the first read of a live setting stores its row
    for _ in range(20):
        exchange(talk)
    with django_assert_max_num_queries(14):
        client.get(url(talk))


def test_search_looks_in_titles_and_in_messages(talk: Conversation, alice: User, home: Workspace) -> None:
    other = make_conversation(alice, home, title="Deploy")
    make_message(other, "the server is called heron")
    client = signed_in(alice)
    by_title = client.get(reverse("chat:list"), {"q": "how we"}).content.decode()
    by_message = client.get(reverse("chat:list"), {"q": "HERON"}).content.decode()
    assert ("How we test" in by_title, "Deploy" in by_title) == (True, False)
    assert ("How we test" in by_message, "Deploy" in by_message) == (False, True)
    assert "Nothing matches" in client.get(reverse("chat:list"), {"q": "<b>zzz"}).content.decode()


@pytest.mark.parametrize(
    ("asked", "kept"), [("incognito", "incognito"), ("nonsense", "persistent"), ("", "persistent")]
)
def test_a_new_conversation_has_the_chosen_mode(bob: User, asked: str, kept: str) -> None:
    answer = signed_in(bob).post(reverse("chat:new"), {"mode": asked})
    made = Conversation.objects.get()
    assert answer["Location"] == url(made)
    assert (made.owner, made.mode, made.surface) == (bob, kept, "web")


def test_nobody_starts_a_conversation_where_they_may_not_write(
    home: Workspace, charlie: User, bob: User
) -> None:
    viewer = make_user("vera")
    make_member(viewer, home, Role.VIEWER)
    assert signed_in(charlie).post(reverse("chat:new")).status_code == 404
    assert signed_in(viewer).post(reverse("chat:new")).status_code == 403  # a member, but not in that role
    secret = make_workspace("secret", is_isolated=True)
    assert signed_in(bob).post(reverse("chat:new"), {"workspace": secret.slug}).status_code == 404
    assert not Conversation.objects.exists()


def test_renaming_and_archiving_are_the_owners(talk: Conversation, alice: User) -> None:
    client = signed_in(alice)
    client.post(url(talk, "rename"), {"title": "  New   name "})
    talk.refresh_from_db()
    assert talk.title == "New name"
    client.post(url(talk, "archive"))
    assert "New name" not in client.get(reverse("chat:list")).content.decode()


def test_the_context_drawer_shows_blocks_sizes_scores_and_what_was_left_out(
    talk: Conversation, alice: User
) -> None:
    address = reverse("chat:turn_context", args=[exchange(talk, packet=PACKET).pk])
    page = signed_in(alice).get(address, headers={"X-Fragment": "1"}).content.decode()
    for expected in (
        "40 of 37,290",
        "les:7",
        "0.81",
        "over the cap",
        "(3 rows)",
        "les:8",
        "nothing fits",
        "still loading",
    ):
        assert expected in page
    assert "<b>[les:7]" not in page
    assert "<html" not in page


def test_the_drawer_shows_the_budget_the_window_and_what_came_with_the_message(
    talk: Conversation, alice: User
) -> None:
    added = {"name": "episodic", "text": "[Episodic Memory]", "chars": 17, "placement": "message"}
    packet = {
        **PACKET,
        "mode": "temporary",
        "ceiling_chars": 33_000,
        "model_window": 32_000,
        "blocks": [*PACKET["blocks"], added],
    }
    address = reverse("chat:turn_context", args=[exchange(talk, packet=packet).pk])
    page = signed_in(alice).get(address, headers={"X-Fragment": "1"}).content.decode()
    for expected in ("of 33,000 characters", "window of 32,000 tokens", "temporary: memory was neither read"):
        assert expected in page
    assert page.index("With this message") < page.index("Episodes") < page.index("Before the conversation")


def context_page(talk: Conversation, reader: User, sources: list[dict[str, Any]]) -> str:
    block = {"name": "rows", "text": "As they stood then.", "chars": 19, "sources": sources}
    turn = exchange(talk, packet={"blocks": [block], "total_chars": 19})
    return signed_in(reader).get(reverse("chat:turn_context", args=[turn.pk])).content.decode()


def source_of(kind: str, row: Any, citation: str) -> dict[str, Any]:
    return {"kind": kind, "object_id": row.pk, "citation": citation, "score": 0.5}


def test_the_rows_of_a_packet_say_what_they_hold_and_lead_to_their_pages(
    talk: Conversation, alice: User, home: Workspace
) -> None:
    fact = semantic_write(home=home, key="project.host", value=["heron", "crane"], origin=EXPLICIT).row
    lesson = lesson_write(home=home, rule="Prefer **tabs** <b>", origin=EXPLICIT).row
    shown = context_page(
        talk, alice, [source_of("semantic", fact, "sem:project.host"), source_of("lesson", lesson, "les:1")]
    )
    assert f"{reverse('dashboard:cited', args=[f'les:{lesson.pk}'])}?workspace={home.slug}" in shown
    assert '<span class="key">project.host</span> heron, crane</a>' in shown
    assert "Prefer tabs &lt;b&gt;</a>" in shown
    assert shown.count("relevance 0.50") == 2


def test_rows_of_a_packet_that_ended_say_so(talk: Conversation, alice: User, home: Workspace) -> None:
    old = semantic_write(home=home, key="project.host", value="heron", origin=EXPLICIT).row
    semantic_write(home=home, key="project.host", value="crane", origin=EXPLICIT)
    gone = episodic_write(home=home, text="Moored at the stern.", origin=EXPLICIT).row
    episodic_delete(row=gone, origin=EXPLICIT)
    pruned = {"kind": "episodic", "object_id": 99, "citation": "epi:99", "score": None}
    shown = context_page(
        talk, alice, [source_of("semantic", old, "sem:1"), source_of("episodic", gone, "epi:1"), pruned]
    )
    for said in (
        "heron",
        "replaced since",
        "Moored at the stern.",
        "deleted since",
        "Episode epi:99",
        "gone for good",
    ):
        assert said in shown


def test_the_rows_of_one_kind_are_read_at_once(
    talk: Conversation, alice: User, home: Workspace, django_assert_num_queries: Any
) -> None:
    rows = [episodic_write(home=home, text=f"Moored at berth {n}.", origin=EXPLICIT).row for n in range(12)]
    sources = [source_of("episodic", row, f"epi:{row.pk}") for row in rows]
    with django_assert_num_queries(1):
        packet_page({"blocks": [{"text": "", "sources": sources}]}, workspace=home)
    assert "4 more" in context_page(talk, alice, sources)


def test_an_answer_follows_its_question_whatever_was_asked_meanwhile(talk: Conversation, alice: User) -> None:
    first, _ = turn_start(conversation=talk, user=alice, text="first question", client_key="1")
    turn_start(conversation=talk, user=alice, text="second question", client_key="2")
    turn_begin(turn_id=first.pk)
    turn_finish(turn_id=first.pk, text="first answer")
    page = signed_in(alice).get(reverse("chat:conversation", args=[talk.pk])).content.decode()
    places = [page.index(f">{text}<") for text in ("first question", "first answer", "second question")]
    assert places == sorted(places)


def test_a_call_is_shown_where_it_happened(talk: Conversation, alice: User) -> None:
    turn, _ = turn_start(conversation=talk, user=alice, text="go", client_key="1")
    turn_begin(turn_id=turn.pk)
    call = {"id": "c", "name": "learn_add", "state": "done", "args_summary": "", "at": 6}
    closed = turn_finish(turn_id=turn.pk, text="before\n\nafter", tool_calls=[call])
    html = '<p>before</p>\n<div class="call-mark"></div><p>after</p>'
    assert closed.assistant_message is not None
    assert html in closed.assistant_message.content_html
    page = signed_in(alice).get(reverse("chat:conversation", args=[talk.pk])).content.decode()
    assert html in page
    assert '"at": 6' in unescape(page)


def test_the_lines_alone_ask_for_nothing_that_stands_around_them(talk: Conversation, alice: User) -> None:
    exchange(talk, "q", "an *answer*")
    client, asked = signed_in(alice), []
    for headers in ({}, {"X-Fragment": "1"}):
        client.get(url(talk), headers=headers)
        with CaptureQueriesContext(connection) as queries:
            page = client.get(url(talk), headers=headers).content.decode()
        assert "an <em>answer</em>" in page
        asked.append(
            {query["sql"].split("FROM")[1].split('"')[1] for query in queries if "FROM" in query["sql"]}
        )
    assert asked[0] - asked[1] >= {"llm_connection"}
    assert asked[1] <= {
        "django_session",
        "accounts_user",
        "conversations_conversation",
        "conversations_message",
        "chat_turn",
    }


def test_a_citation_in_an_answer_is_a_link(talk: Conversation, alice: User) -> None:
    turn = exchange(talk)
    assert turn.assistant_message is not None
    message_update(message=turn.assistant_message, content="It is heron [epi:12].")
    page = signed_in(alice).get(reverse("chat:conversation", args=[talk.pk])).content.decode()
    assert f'href="{reverse("dashboard:cited", args=["epi:12"])}"' in page


def test_a_turn_without_a_packet_says_so(talk: Conversation, alice: User) -> None:
    page = signed_in(alice).get(reverse("chat:turn_context", args=[exchange(talk).pk])).content.decode()
    assert "Nothing was recorded" in page


def test_the_empty_state_offers_three_examples_and_the_three_modes(bob: User) -> None:
    page = signed_in(bob).get(reverse("chat:home")).content.decode()
    assert page.count("data-example=") == 3
    for mode in Conversation.Mode:
        assert f'value="{mode.value}"' in page
    assert "No language model is connected" in page


def test_characters_no_database_takes_are_no_failure(bob: User) -> None:
    """PostgreSQL refuses NUL in a text."""
    client = signed_in(bob)
    assert client.get(reverse("chat:list"), {"q": "a\x00b"}).status_code == 200
    assert client.post(reverse("chat:new"), {"workspace": "a\x00b"}).status_code == 404
    assert client.post(reverse("dashboard:workspace"), {"workspace": "a\x00b"}).status_code == 404
