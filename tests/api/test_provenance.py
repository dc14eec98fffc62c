"""Explaining and restoring rows through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework.test import APIClient

from lessons.services import lesson_delete, lesson_write
from memory.models import PreferencesDocument, SemanticMemory
from memory.services import document_replace, semantic_delete, semantic_write
from tests.factories import EXPLICIT

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace

pytestmark = pytest.mark.django_db
Caller = Callable[[str], APIClient]


def fact(home: Workspace, value: Any = "vim") -> SemanticMemory:
    row = semantic_write(home=home, key="pref.editor", value=value, origin=EXPLICIT).row
    assert row is not None
    return row


def url(kind: str, row_id: Any, what: str) -> str:
    return f"/api/v1/memory/{kind}/{row_id}/{what}?workspace=default"


def test_a_row_tells_where_it_came_from_and_what_it_replaced(home: Workspace, caller: Caller) -> None:
    old, new = fact(home, "vim"), fact(home, "emacs")
    told = caller("viewer").get(url("semantic", new.pk, "explain")).json()
    assert (told["state"], told["source"], told["surface"]) == ("in force", "user_explicit", "cli")
    assert told["replaces"] == [
        {
            "citation": f"sem:{old.pk}",
            "id": old.pk,
            "text": "pref.editor: vim",
            "at": old.valid_from.isoformat().replace("+00:00", "Z"),
        }
    ]


def test_a_deleted_row_comes_back(home: Workspace, caller: Caller) -> None:
    row = fact(home)
    semantic_delete(row=row, origin=EXPLICIT)
    answer = caller("member").post(url("semantic", row.pk, "restore"))
    assert (answer.status_code, answer.json()["outcome"]) == (200, "restored")
    assert SemanticMemory.objects.get() == row
    assert caller("member").post(url("semantic", row.pk, "restore")).json()["outcome"] == "unchanged"


def test_documents_and_lessons_come_back_too(home: Workspace, caller: Caller) -> None:
    lesson = lesson_write(home=home, rule="use pytest", origin=EXPLICIT).row
    assert lesson is not None
    lesson_delete(row=lesson, origin=EXPLICIT)
    assert caller("owner").post(url("lesson", lesson.pk, "restore")).json()["citation"] == f"les:{lesson.pk}"
    rows = [
        document_replace(model=PreferencesDocument, workspace=home, text=text, origin=EXPLICIT).row
        for text in ("- tea", "- coffee")
    ]
    assert rows[0] is not None
    assert caller("owner").post(url("preferences", rows[0].pk, "restore")).status_code == 200
    assert PreferencesDocument.objects.get(replaced_at__isnull=True).text == "- tea"


def test_a_refused_restore_says_why(home: Workspace, caller: Caller) -> None:
    old = fact(home, "vim")
    fact(home, "emacs")
    answer = caller("member").post(url("semantic", old.pk, "restore"))
    assert (answer.status_code, answer.json()["code"]) == (422, "conflict_skip")


@pytest.mark.parametrize(
    ("who", "explained", "restored"),
    [
        ("owner", 200, 200),
        ("viewer", 200, 403),
        ("read-only", 200, 403),
        ("stranger", 404, 404),
        ("elsewhere", 404, 404),
        ("anonymous", 401, 401),
    ],
)
def test_roles_and_scopes_are_kept(
    home: Workspace, caller: Caller, who: str, explained: int, restored: int
) -> None:
    row = fact(home)
    client = caller(who)
    assert client.get(url("semantic", row.pk, "explain")).status_code == explained
    assert client.post(url("semantic", row.pk, "restore")).status_code == restored


@pytest.mark.parametrize(("kind", "row_id"), [("nothing", 1), ("semantic", 10**30), ("episodic", 999)])
def test_what_does_not_exist_is_not_found(caller: Caller, kind: str, row_id: int) -> None:
    assert caller("owner").get(url(kind, row_id, "explain")).status_code == 404
    assert caller("owner").post(url(kind, row_id, "restore")).status_code == 404


def test_another_homes_row_does_not_exist(home: Workspace, other_home: Workspace, caller: Caller) -> None:
    row = fact(other_home)
    assert caller("owner").get(url("semantic", row.pk, "explain")).status_code == 404


def test_an_unknown_field_is_refused(home: Workspace, caller: Caller) -> None:
    row = fact(home)
    assert (
        caller("owner").post(url("semantic", row.pk, "restore"), {"x": 1}, format="json").status_code == 400
    )
