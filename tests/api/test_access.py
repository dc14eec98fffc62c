"""One table says who may do what; every operation of the API is asked as every kind of caller."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from crewsite.accounts.access import OPERATIONS, Right
from crewsite.accounts.services import token_create
from crewsite.api.base import operation_of
from crewsite.chat.services import turn_finish, turn_start
from crewsite.jobs.models import Job
from lessons.services import lesson_write
from memory.services import episodic_write, semantic_write
from tests.factories import EXPLICIT, make_conversation, make_user

if TYPE_CHECKING:
    from crewsite.accounts.models import User, Workspace
    from tests.fakes import FakeEmbedder

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite_only]


class Caller(StrEnum):
    OPERATOR = "operator"
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"
    STRANGER = "stranger"
    ANONYMOUS = "anonymous"


class Verdict(StrEnum):
    """`MISSING`: what somebody may not see looks as if it were not there. `UNKNOWN`: who asks must say so."""

    GRANTED = "granted"
    FORBIDDEN = "forbidden"
    MISSING = "missing"
    UNKNOWN = "unknown"


_YES, _NO, _GONE, _WHO = Verdict.GRANTED, Verdict.FORBIDDEN, Verdict.MISSING, Verdict.UNKNOWN

# In the order of `Caller`. AUTHOR and PRIVATE are told for a row of an owner.
GRANTS = {
    #               operator owner  member viewer stranger anonymous
    Right.PUBLIC:  (_YES,  _YES,  _YES,  _YES,  _YES,  _YES),
    Right.PERSON:  (_YES,  _YES,  _YES,  _YES,  _YES,  _WHO),
    Right.PRIVATE: (_GONE, _YES,  _GONE, _GONE, _GONE, _WHO),
    Right.READ:    (_YES,  _YES,  _YES,  _YES,  _GONE, _WHO),
    Right.WRITE:   (_YES,  _YES,  _YES,  _NO,   _GONE, _WHO),
    Right.AUTHOR:  (_YES,  _YES,  _NO,   _NO,   _GONE, _WHO),
    Right.OWN:     (_YES,  _YES,  _NO,   _NO,   _GONE, _WHO),
    Right.OPERATE: (_YES,  _NO,   _NO,   _NO,   _NO,   _WHO),
}  # fmt: skip

STATUS = {Verdict.FORBIDDEN: 403, Verdict.MISSING: 404, Verdict.UNKNOWN: 401}
# What an operation is sent so that only the caller decides about its answer.
QUERIES = {
    "GET /memory/episodic/search": "q=hello",
    "GET /memory/search": "q=hello",
    "GET /memory/as-of": "moment=2026-01-01",
    "POST /lessons/remove": "q=pytest",
}
BODIES: dict[str, dict[str, Any]] = {
    "PUT /memory/semantic/": {"key": "pref.shell", "value": "fish"},
    "POST /memory/episodic/": {"text": "The harbour was closed on Monday."},
    "PUT /memory/preferences": {"text": "- tea"},
    "PUT /memory/projects": {"text": "- the harbour"},
    "POST /lessons/": {"rule": "Answer in French"},
    "PATCH /lessons/{row_id}": {"pinned": True},
    "POST /conversations/": {},
    "PATCH /conversations/{conversation_id}": {"title": "Harbour"},
    "POST /conversations/{conversation_id}/commands": {"text": "/help"},
    "POST /conversations/{conversation_id}/turns": {"text": "/help"},
    "POST /conversations/{conversation_id}/turns/{turn_id}/answers": {"call": "c", "choice": "allow"},
    "PUT /memory/settings": {},
    "POST /embeddings/model": {"model": "/nowhere.gguf"},
    "POST /security/tokens/": {"name": "another"},
}
# Where the way is free and the thing itself says no: a command is no message, downloads are forbidden in
# tests, there is no such model, a queued job has not failed, an answer has ended well and asks nobody.
REFUSALS = {
    "POST /conversations/{conversation_id}/turns": 400,
    "POST /conversations/{conversation_id}/turns/{turn_id}/answers": 409,
    "POST /conversations/{conversation_id}/turns/{turn_id}/retry": 409,
    "POST /conversations/{conversation_id}/turns/{turn_id}/stop": 409,
    "POST /embeddings/install": 409,
    "POST /embeddings/model": 422,
    "POST /jobs/{job_id}/retry": 409,
}


def operations() -> set[str]:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, found in paths.items()
        for method in found
    }


def test_every_operation_of_the_schema_is_in_the_table_and_no_other() -> None:
    assert operations() == set(OPERATIONS) - {"GET /schema/", "GET /docs/"}


def test_routes_are_named_as_in_the_table() -> None:
    assert operation_of("HEAD", "api/v1/memory/<slug:kind>/<int:row_id>/explain") == (
        "GET /memory/{kind}/{row_id}/explain"
    )


@pytest.fixture
def everything(home: Workspace, alice: User, embedder: FakeEmbedder) -> dict[str, Any]:
    """A row of every kind, written by Alice."""
    semantic_write(home=home, key="pref.editor", value="vim", origin=EXPLICIT, author=alice)
    episode = episodic_write(home=home, text="Alice moved to the harbour.", origin=EXPLICIT, author=alice).row
    lesson = lesson_write(home=home, rule="Always use pytest", origin=EXPLICIT, author=alice).row
    conversation = make_conversation(alice, home)
    turn, _ = turn_start(conversation=conversation, user=alice, text="hello", client_key="k")
    turn_finish(turn_id=turn.pk, text="Hello.")
    job = Job.objects.create(kind="consolidate", task="a.b", workspace_id=home.pk)
    token, _ = token_create(user=alice, name="hers")
    assert episode
    assert lesson
    return {
        "key": "pref.editor",
        "kind": "semantic",
        "episode": episode.pk,
        "lesson": lesson.pk,
        "conversation_id": conversation.pk,
        "turn_id": turn.pk,
        "job_id": job.pk,
        "token_key": token.token_key,
    }


def address(operation: str, known: dict[str, Any]) -> str:
    path = operation.partition(" ")[2]
    row = known["lesson"] if path.startswith("/lessons") else known["episode"]
    kind = "lesson" if "/lessons" in path else "episodic"
    filled = path.format(**{**known, "kind": kind, "row_id": row})
    right = OPERATIONS[operation]
    query = [QUERIES.get(operation, "")]
    if right in {Right.READ, Right.WRITE, Right.AUTHOR, Right.OWN} and "/jobs/" not in path:
        query.append("workspace=default")
    return f"/api/v1{filled}?{'&'.join(part for part in query if part)}"


@pytest.mark.parametrize("who", Caller)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_the_table_is_what_callers_meet(
    everything: dict[str, Any], caller: Callable[..., APIClient], who: Caller, operation: str
) -> None:
    client = caller(who, scopes=["read", "write", "admin"])
    method, url = operation.partition(" ")[0], address(operation, everything)
    answer = getattr(client, method.lower())(url, BODIES.get(operation), format="json")
    told = GRANTS[OPERATIONS[operation]][list(Caller).index(who)]
    if told == Verdict.GRANTED:
        refusal = REFUSALS.get(operation)
        assert answer.status_code == refusal if refusal else answer.status_code < 300, answer.content
    else:
        assert answer.status_code == STATUS[told], answer.content
        assert answer["Content-Type"].startswith("application/problem+json")


def test_a_member_deletes_what_they_wrote_themselves(
    home: Workspace, bob: User, caller: Callable[..., APIClient], embedder: FakeEmbedder
) -> None:
    semantic_write(home=home, key="pref.shell", value="fish", origin=EXPLICIT, author=bob)
    client = caller("member")
    assert client.delete("/api/v1/memory/semantic/pref.shell").status_code == 204
    assert client.get("/api/v1/memory/semantic/pref.shell").status_code == 404


def test_an_operators_token_operates_with_the_scope_admin_and_no_workspace(home: Workspace, db: None) -> None:
    root = make_user("root", is_superuser=True)
    for number, (options, status) in enumerate(
        [
            ({"scopes": ["read", "write", "admin"]}, 200),
            ({"scopes": ["read", "write"]}, 403),
            ({"scopes": ["admin"], "workspace": home}, 403),
        ]
    ):
        _, text = token_create(user=root, name=f"t{number}", **options)  # type: ignore[arg-type]
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        assert client.get("/api/v1/memory/settings").status_code == status
