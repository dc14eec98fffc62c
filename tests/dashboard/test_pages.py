"""The pages people look at: who gets them, what they show, and what stored text can do in them."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse

from crewsite.accounts.models import Role, User, Workspace
from crewsite.chat.models import Turn
from crewsite.conversations.models import Conversation
from crewsite.jobs.models import Job
from crewsite.security.models import MemoryEvent
from lessons.models import Lesson
from memory.models import EpisodicMemory, SemanticMemory
from memory.services import review_add
from tests.factories import make_conversation, make_member, make_message, make_user, make_workspace

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'{{ 7|add:7 }}"
PAGES = ["dashboard:home", "dashboard:status", "dashboard:context", "chat:home", "chat:list"]


class PageReader(HTMLParser):
    """Collects what a strict content policy forbids, and every address a page loads from."""

    def __init__(self) -> None:
        super().__init__()
        self.inline: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.inline += [f"{tag} {name}" for name in given if name.startswith("on") or name == "style"]
        is_data = given.get("type") == "application/json"  # never run, so no policy is asked
        if tag == "style" or (tag == "script" and "src" not in given and not is_data):
            self.inline.append(tag)
        if tag in {"script", "link", "img", "iframe", "use"}:
            self.loads += [value or "" for name, value in attributes if name in {"src", "href"}]


def read(response: Any) -> PageReader:
    reader = PageReader()
    reader.feed(response.content.decode())
    return reader


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def lesson(home: Workspace, rule: str = "Always use pytest.", **fields: Any) -> Lesson:
    key = f"lesson.{Lesson.all_objects.count()}"
    return Lesson.objects.create(home=home, key=key, rule=rule, source="user_explicit", **fields)


@pytest.mark.parametrize("page", PAGES)
def test_a_member_gets_the_page(bob: User, page: str) -> None:
    response = signed_in(bob).get(reverse(page))
    assert response.status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_an_anonymous_visitor_is_sent_to_log_in(db: None, page: str) -> None:
    response = Client().get(reverse(page))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("login"))


@pytest.mark.parametrize("page", PAGES)
def test_pages_hold_no_inline_code_and_load_nothing_from_elsewhere(bob: User, page: str) -> None:
    seen = read(signed_in(bob).get(reverse(page)))
    assert seen.inline == []
    assert all(address.startswith(("/static/", "#i-")) for address in seen.loads), seen.loads


def test_a_person_without_a_workspace_is_told_so(charlie: User) -> None:
    client = signed_in(charlie)
    for page in ("dashboard:home", "dashboard:context"):
        assert "No workspace yet" in client.get(reverse(page)).content.decode()


def test_the_content_policy_allows_no_inline_code_outside_admin(alice: User) -> None:
    for page in PAGES:
        policy = signed_in(alice).get(reverse(page))["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_only_admin_pages_are_excepted_from_the_content_policy(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    policy = signed_in(alice).get(reverse("admin:index"))["Content-Security-Policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["script-src"] == "'self' 'unsafe-eval'"
    assert directives["style-src"] == "'self' 'unsafe-inline'"
    assert directives["default-src"] == "'none'"


def test_personal_pages_are_not_kept_by_caches(bob: User) -> None:
    response = signed_in(bob).get(reverse("dashboard:home"))
    assert "no-store" in response["Cache-Control"]
    assert "camera=()" in response["Permissions-Policy"]


def test_home_shows_what_was_learned_and_what_was_refused(bob: User, home: Workspace) -> None:
    lesson(home, "Always use pytest.", negative="unittest")
    SemanticMemory.objects.create(home=home, key="pref.editor", value="Helix", source="user_explicit")
    EpisodicMemory.objects.create(
        home=home, text="Deployed to heron.", folded_hash="a", source="consolidation"
    )
    MemoryEvent.objects.create(
        home_id=home.pk, event="refused", memory_type="semantic", new_value="x=1", reason="low confidence"
    )
    page = signed_in(bob).get(reverse("dashboard:home")).content.decode()
    for expected in (
        "Always use pytest.",
        "Not: unittest",
        "pref.editor",
        "Helix",
        "Deployed to heron.",
        "low confidence",
    ):
        assert expected in page


def test_home_shows_neither_deleted_rows_nor_those_of_another_home(bob: User, home: Workspace) -> None:
    lesson(make_workspace("secret", is_isolated=True), "A rule of strangers.")
    lesson(home, "A deleted rule.", is_deleted=True)
    page = signed_in(bob).get(reverse("dashboard:home")).content.decode()
    assert "A rule of strangers." not in page
    assert "A deleted rule." not in page


def test_stored_text_is_inert_on_home(bob: User, home: Workspace) -> None:
    lesson(home, HOSTILE, negative=HOSTILE)
    SemanticMemory.objects.create(home=home, key="user.x", value=HOSTILE, source="user_explicit")
    EpisodicMemory.objects.create(home=home, text=HOSTILE, folded_hash="a", source="import")
    response = signed_in(bob).get(reverse("dashboard:home"))
    assert read(response).inline == []
    assert "<img src=x" not in response.content.decode()


def test_home_asks_the_same_number_of_queries_however_much_is_stored(
    bob: User, home: Workspace, django_assert_max_num_queries: Any
) -> None:
    for index in range(30):
        lesson(home, f"Rule {index}.")
    client = signed_in(bob)
    client.get(reverse("dashboard:home"))
    with django_assert_max_num_queries(27):
        client.get(reverse("dashboard:home"))


def test_home_shows_three_that_wait_and_says_how_many_there_are(bob: User, home: Workspace) -> None:
    for index in range(5):
        review_add(home=home, kind="possibly_supersedes", summary=f"Doubt {index}", payload={})
    page = signed_in(bob).get(reverse("dashboard:home")).content.decode()
    assert [f"Doubt {index}" in page for index in range(5)] == [True, True, True, False, False]
    assert "All 5 to review" in page


def test_a_workspace_that_shares_its_memory_says_with_which(bob: User, home: Workspace) -> None:
    make_member(bob, make_workspace("guest", memory_home=home))
    client = signed_in(bob)
    page = reverse("dashboard:memory", args=["facts"])
    assert "memory shared with" not in client.get(page).content.decode()
    client.post(reverse("dashboard:workspace"), {"workspace": "guest"})
    assert f"memory shared with {home}" in client.get(page).content.decode()


def test_a_workspace_can_be_chosen_by_its_members_only(bob: User, home: Workspace) -> None:
    team = make_workspace("team", is_isolated=True)
    lesson(team, "Only the team knows this.")
    client = signed_in(bob)
    assert client.post(reverse("dashboard:workspace"), {"workspace": "team"}).status_code == 404
    make_member(bob, team, Role.VIEWER)
    answer = client.post(
        reverse("dashboard:workspace"), {"workspace": "team", "next": "https://evil.example/"}
    )
    assert answer["Location"] == reverse("dashboard:home")
    assert "Only the team knows this." in client.get(reverse("dashboard:home")).content.decode()


def test_status_says_what_to_do_about_each_limit(bob: User) -> None:
    page = signed_in(bob).get(reverse("dashboard:status")).content.decode()
    assert "crew embeddings install" in page
    assert "CREW_LLM_BASE_URL" in page


def test_an_operator_has_the_full_model_downloaded_and_then_taken_into_use(
    bob: User, settings: Any, tmp_path: Path
) -> None:
    settings.CREW_HOME, settings.CREW_SKIP_MODEL_DOWNLOAD = tmp_path, False
    settings.CREW_EMBED_MODEL_PATH = settings.CREW_EMBED_BASE_URL = ""
    status, act = reverse("dashboard:status"), reverse("dashboard:full-model")
    assert "full model" not in signed_in(bob).get(status).content.decode()
    assert signed_in(bob).post(act).status_code == 403
    client = signed_in(make_user("root", is_superuser=True))
    assert "Download the full model" in client.get(status).content.decode()
    for _ in range(2):
        assert "is being downloaded" in client.post(act, follow=True).content.decode()
    assert [job.args for job in Job.objects.of_kind("model_install")] == [["qwen3-embedding-0.6b", ""]]
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "qwen3-embedding-0.6b.gguf").touch()
    assert "Use the full model" in client.get(status).content.decode()
    client.post(act)
    assert Job.objects.of_kind("model_switch").count() == 1
    assert "another model is being switched to" in client.post(act, follow=True).content.decode().lower()
    settings.CREW_EMBED_BASE_URL = "http://127.0.0.1:9/v1"
    assert "full model" not in client.get(status).content.decode()


def test_status_refreshes_with_a_fragment(bob: User) -> None:
    page = signed_in(bob).get(reverse("dashboard:status"), headers={"HX-Request": "true"}).content.decode()
    assert "Embedding model" in page
    assert "Waiting to be indexed: 0" in page
    assert "SQLite" in page or "PostgreSQL" in page
    for code in ("fts5", "faiss", "Lag", "Model id", "sqlite"):
        assert code not in page
    assert "<html" not in page


@pytest.mark.sqlite_only
def test_the_preview_shows_the_packet_and_stores_nothing(bob: User, home: Workspace) -> None:
    lesson(home, "Always use pytest.")
    response = signed_in(bob).get(reverse("dashboard:context"), {"q": "How do we test?", "window": "32000"})
    page = response.content.decode()
    assert "Always use pytest." in page
    assert "of 7,458" in page  # the lessons' share of a 32k window, chapter 04
    assert not Conversation.objects.exists()
    assert not Turn.objects.exists()


@pytest.mark.sqlite_only
def test_the_preview_escapes_stored_text(bob: User, home: Workspace) -> None:
    lesson(home, HOSTILE)
    response = signed_in(bob).get(reverse("dashboard:context"), {"q": HOSTILE})
    assert read(response).inline == []
    assert "<img src=x" not in response.content.decode()


def test_the_preview_refuses_a_conversation_of_somebody_else(bob: User, alice: User, home: Workspace) -> None:
    theirs = make_conversation(alice, home, title="Alice only")
    make_message(theirs, "a secret of Alice")
    response = signed_in(bob).get(reverse("dashboard:context"), {"q": "x", "conversation": str(theirs.pk)})
    page = response.content.decode()
    assert "Select a valid choice" in page
    assert "a secret of Alice" not in page
    assert "The packet" not in page


def test_a_missing_page_is_explained(client: Client, db: None) -> None:
    response = client.get("/no/such/page/")
    assert response.status_code == 404
    assert "Nothing here" in response.content.decode()


def test_a_forged_form_is_refused_with_the_name_of_the_setting(db: None) -> None:
    response = Client(enforce_csrf_checks=True).post(reverse("login"), {"username": "x", "password": "y"})
    assert response.status_code == 403
    assert "CREW_PUBLIC_URL" in response.content.decode()


def test_the_login_page_says_what_was_wrong_and_keeps_the_name(db: None) -> None:
    make_user("dora")
    page = Client().post(reverse("login"), {"username": "dora", "password": "wrong"}).content.decode()
    assert "correct username and password" in page
    assert 'value="dora"' in page


def test_logging_in_and_out_works_from_the_pages(bob: User) -> None:
    client = Client()
    answer = client.post(
        reverse("login"),
        {"username": "bob", "password": "correct horse battery", "next": reverse("chat:home")},
    )
    assert answer["Location"] == reverse("chat:home")
    assert client.post(reverse("logout"))["Location"] == reverse("login")
    assert client.get(reverse("dashboard:home")).status_code == 302


def test_only_an_operator_is_led_to_the_form_that_connects_a_model(bob: User) -> None:
    operator = signed_in(make_user("operator", is_staff=True, is_superuser=True))
    way = f'<a href="{reverse("dashboard:settings-models")}">Connect a model</a>'
    for page in ("dashboard:home", "dashboard:status"):
        assert way not in signed_in(bob).get(reverse(page)).content.decode()
    assert way in operator.get(reverse("dashboard:status")).content.decode()


def test_without_a_model_the_context_page_speaks_of_none(bob: User, home: Workspace) -> None:
    page = signed_in(bob).get(reverse("dashboard:context"), {"q": "tests"}).content.decode()
    assert "No model is connected" in page
    assert "As the model read it" not in page


def test_a_page_that_is_not_there_keeps_the_navigation_for_who_is_signed_in(bob: User) -> None:
    page = signed_in(bob).get("/nowhere/")
    assert page.status_code == 404
    assert 'id="site-nav"' in page.content.decode()
    assert 'id="site-nav"' not in Client().get("/nowhere/").content.decode()
