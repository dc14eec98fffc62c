"""The schema describes every endpoint without a warning, and its page keeps the site's content policy."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

if TYPE_CHECKING:
    from django.test import Client

    from crewsite.accounts.models import User

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
# No single rows that somebody else could change in between.
TOKENS = "/api/v1/security/tokens/"
UNVERSIONED = {"/api/v1/memory/settings", f"{TOKENS}{{token_key}}"}


@pytest.fixture
def schema() -> dict[str, Any]:
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def test_the_schema_is_valid_and_generated_without_warnings(schema: dict[str, Any]) -> None:
    validate_schema(schema)
    call_command("spectacular", "--fail-on-warn", "--validate", stdout=StringIO(), stderr=StringIO())


def test_every_endpoint_and_how_to_authenticate_is_described(schema: dict[str, Any]) -> None:
    assert {path.removeprefix("/api/v1") for path in schema["paths"]} >= {
        "/health/live",
        "/health/ready",
        "/embeddings/status",
        "/memory/context-preview",
        "/memory/search",
        "/conversations/",
        "/conversations/{conversation_id}/messages/",
        "/lessons/",
    }
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "ProblemBody" in schema["components"]["schemas"]


def test_the_schema_is_served(client: Client) -> None:
    answer = client.get("/api/v1/schema/", headers={"accept": "application/json"})
    assert answer.status_code == 200
    assert answer.json()["info"]["title"] == "Crewsite API"


def test_the_docs_page_needs_no_inline_code_and_no_other_host(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert "<style" not in page
    assert "://" not in page.replace("http://testserver", "")
    script = re.search(r'<script src="([^"]*script[^"]*)"', page)
    assert script
    answer = client.get(script.group(1).replace("&amp;", "&"))
    assert answer.status_code == 200
    assert "javascript" in answer["Content-Type"]


def test_the_docs_page_stands_under_the_bar_of_who_is_signed_in(client: Client, alice: User) -> None:
    assert 'action="/logout/"' not in client.get("/api/v1/docs/").content.decode()
    client.force_login(alice)
    page = client.get("/api/v1/docs/").content.decode()
    assert 'aria-label="Main"' in page
    assert 'action="/logout/"' in page


@pytest.mark.sqlite_only  # the ranges of numbers are those of the database
def test_the_schema_in_the_documentation_is_the_present_one(schema: dict[str, Any]) -> None:
    """After a change of the API: `manage.py spectacular --format openapi-json --file docs/openapi.json`."""
    kept = json.loads((ROOT / "docs/openapi.json").read_text())
    assert json.loads(json.dumps(schema, default=str)) == kept


def test_every_post_takes_a_key_and_every_single_row_has_versions(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            headers = {row["name"] for row in operation.get("parameters", ()) if row["in"] == "header"}
            assert ("Idempotency-Key" in headers) == (method == "post" and path != TOKENS), (method, path)
            assert ("If-Match" in headers) == (
                method in {"put", "patch", "delete"} and path not in UNVERSIONED
            )


def test_every_operation_describes_its_refusals(schema: dict[str, Any]) -> None:
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            assert operation["description"], path
            assert "`self." not in operation["description"], path
            if "/health/" not in path:
                assert list(operation["responses"]["4XX"]["content"]) == ["application/problem+json"], path
