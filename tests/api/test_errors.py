"""Errors are problem JSON, name their field, and foresee what clients do wrong."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from rest_framework import exceptions
from rest_framework.test import APIClient, APIRequestFactory, force_authenticate

from crewsite.accounts.errors import SharingNeedsDecision
from crewsite.api.errors import MEDIA_TYPE, field_errors, problem_handler
from crewsite.api.lessons import Lessons
from tests.factories import make_user

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

Caller = Callable[[str], APIClient]
KEYS = {"type", "title", "status", "detail", "errors", "code"}


def check_problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"].startswith(MEDIA_TYPE)
    body: dict[str, Any] = answer.json()
    assert set(body) == KEYS
    assert body["status"] == status
    assert body["code"] == code
    assert body["detail"]
    return body


def test_unknown_fields_are_refused_by_name(caller: Caller) -> None:
    answer = caller("owner").post("/api/v1/lessons/", {"rule": "Use tabs", "colour": 1}, format="json")
    assert check_problem(answer, 400, "invalid")["errors"] == {"colour": ["Unknown field."]}


@pytest.mark.parametrize(
    "path", ["lessons/", "conversations/", "memory/search?q=x", "memory/context-preview"]
)
def test_unknown_parameters_are_refused_by_name(caller: Caller, path: str) -> None:
    joined = path + ("&" if "?" in path else "?") + "wrokspace=default"
    answer = caller("owner").get(f"/api/v1/{joined}")
    assert check_problem(answer, 400, "invalid")["errors"] == {"wrokspace": ["Unknown field."]}


def test_a_missing_field_is_named(caller: Caller) -> None:
    answer = caller("owner").post("/api/v1/lessons/", {}, format="json")
    assert "rule" in check_problem(answer, 400, "invalid")["errors"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", "parse_error"),
        ("[" * 100_000, "parse_error"),
        ('{"rule": 12345}', "invalid"),
        ("[]", "invalid"),
        ('"text"', "invalid"),
        ("null", "invalid"),
        ('{"rule": "a\\u0000b"}', "invalid"),
        ('{"rule": "\\ud800"}', "invalid"),
        ('{"rule": {"deep": 1}}', "invalid"),
        ('{"rule": "Use tabs", "category": "weird"}', "invalid"),
    ],
)
def test_broken_bodies_are_refused(caller: Caller, body: str, code: str) -> None:
    answer = caller("owner").post("/api/v1/lessons/", body, content_type="application/json")
    check_problem(answer, 400, code)


def test_other_media_types_methods_and_paths_are_refused(caller: Caller) -> None:
    owner = caller("owner")
    check_problem(
        owner.post("/api/v1/lessons/", "a=1", content_type="text/plain"), 415, "unsupported_media_type"
    )
    check_problem(owner.delete("/api/v1/lessons/"), 405, "method_not_allowed")
    check_problem(owner.get("/api/v1/nothing/here"), 404, "not_found")
    check_problem(owner.get("/api/v1/"), 404, "not_found")
    check_problem(owner.get("/api/v1/conversations/no-uuid/messages/"), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "other"),
    [("/api/v1/lessons", "/api/v1/lessons/"), ("/api/v1/memory/events/", "/api/v1/memory/events")],
)
def test_a_path_that_lacks_a_slash_or_has_one_too_many_names_the_right_one(
    client: Client, path: str, other: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["detail"] == f"There is nothing at {path}. There is {other}, though."


def test_a_body_over_the_limit_is_refused_before_it_is_parsed(caller: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    answer = caller("owner").post("/api/v1/lessons/", {"rule": "x" * 200}, format="json")
    check_problem(answer, 413, "too_large")


@pytest.mark.parametrize(
    "query", ["window=abc", "window=1", "conversation=not-a-uuid", "workspace=a/b", "q=%00"]
)
def test_broken_parameters_are_refused_by_name(caller: Caller, query: str) -> None:
    answer = caller("owner").get(f"/api/v1/memory/context-preview?{query}")
    assert query.partition("=")[0] in check_problem(answer, 400, "invalid")["errors"]


def test_an_unknown_kind_is_refused_with_the_known_ones(caller: Caller) -> None:
    answer = caller("owner").get("/api/v1/memory/search?q=x&kinds=semantic,dreams")
    assert "episodic" in check_problem(answer, 400, "invalid")["errors"]["kinds"][0]


def test_somebody_unknown_is_told_to_authenticate() -> None:
    check_problem(APIClient().get("/api/v1/lessons/"), 401, "not_authenticated")


def test_a_missing_role_says_which(caller: Caller) -> None:
    answer = caller("viewer").post("/api/v1/lessons/", {"rule": "Use tabs"}, format="json")
    assert "member" in check_problem(answer, 403, "role_too_low")["detail"]


def test_a_sharing_that_needs_a_decision_is_a_conflict() -> None:
    response = problem_handler(SharingNeedsDecision("bob would read it"), {})
    assert response
    assert response.data["status"] == 409
    assert response.data["code"] == "sharing_needs_decision"


def test_nested_errors_are_named_by_their_path() -> None:
    nested = {"messages": [{}, {"text": ["Too long."]}], "title": ["Wrong.", "Bad."]}
    detail = exceptions.ValidationError(nested).detail
    assert field_errors(detail) == {"messages.1.text": ["Too long."], "title": ["Wrong.", "Bad."]}
    assert field_errors(["Wrong."]) == {"body": ["Wrong."]}


def test_what_nobody_foresaw_is_a_problem_without_details(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("a secret path /root/x")

    monkeypatch.setattr("crewsite.api.embeddings.readiness", broken)
    client = caller("owner")
    client.raise_request_exception = False
    body = check_problem(client.get("/api/v1/embeddings/status"), 500, "error")
    assert "/root/x" not in str(body)


def test_a_request_id_is_echoed_and_a_forged_one_replaced(client: Client) -> None:
    path = "/api/v1/health/live"
    assert client.get(path, headers={"X-Request-ID": "abc-1.2_3"})["X-Request-ID"] == "abc-1.2_3"
    for forged in ("a b", "x" * 65, "a;b", "<script>"):
        made = client.get(path, headers={"X-Request-ID": forged})["X-Request-ID"]
        assert made != forged
        assert len(made) == 32


@pytest.mark.parametrize("path", ["lessons/", "conversations/"])
def test_a_cursor_somebody_made_up_is_refused(caller: Caller, path: str) -> None:
    made_up = base64.b64encode(b"p=abc").decode()
    answer = caller("owner").get(f"/api/v1/{path}", {"cursor": made_up})
    assert "cursor" in check_problem(answer, 404, "not_found")["detail"].lower()


def test_a_body_of_unknown_length_is_refused_and_not_taken_for_an_empty_one() -> None:
    request = APIRequestFactory().post("/api/v1/lessons/", {"rule": "Use tabs"}, format="json")
    request.META.pop("CONTENT_LENGTH")
    request.META["HTTP_TRANSFER_ENCODING"] = "chunked"
    user = make_user("someone")
    force_authenticate(request, user=user)
    answer = Lessons.as_view()(request)
    assert (answer.status_code, answer.data["code"]) == (411, "length_required")
