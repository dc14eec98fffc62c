"""Who may do what through MCP over HTTP, and what is turned away before a tool is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.mcp.conftest import post

if TYPE_CHECKING:
    from tests.site import Site

pytestmark = pytest.mark.sqlite_only

READS = {"learn_list": {}, "memory_recall": {"query": "tests"}, "memory_context": {}}
WRITES = {
    "learn_add": {"rule": "always use pytest"},
    "memory_remember": {"key": "pref.shell", "value": "fish"},
    "conversation_log": {"messages": [{"role": "user", "content": "hello"}], "session": "matrix"},
    "learn_remove": {"query": "les:999999"},
}
# Reads, writes: True when the tool runs, False when it is denied; a number is the status of the request.
MATRIX: dict[str, tuple[bool | int, bool | int]] = {
    "owner": (True, True),
    "member": (True, True),
    "viewer": (True, False),
    "read-only": (True, False),
    "write-only": (False, True),
    "elsewhere": (True, True),
    "stranger": (404, 404),
    "expired": (401, 401),
    "anonymous": (401, 401),
}


@pytest.mark.parametrize("tool", [*READS, *WRITES])
@pytest.mark.parametrize("who", MATRIX)
def test_scope_and_role_decide(site: Site, tokens: dict[str, str], who: str, tool: str) -> None:
    arguments: dict[str, Any] = {**READS, **WRITES}[tool]
    expected = MATRIX[who][0 if tool in READS else 1]
    answer = post(site, tokens[who], "tools/call", name=tool, arguments=arguments)
    if not isinstance(expected, bool):
        assert answer.status_code == expected
        return
    result = answer.json()["result"]
    denied = result["structuredContent"].get("outcome") == "denied"
    assert denied is not expected, result
    if denied:
        assert result["isError"]
        assert "scope" in result["content"][0]["text"] or "role member" in result["content"][0]["text"]


@pytest.mark.parametrize("who", ["viewer", "read-only", "write-only"])
def test_a_caller_is_shown_only_what_they_may_call(site: Site, tokens: dict[str, str], who: str) -> None:
    tools = post(site, tokens[who], "tools/list").json()["result"]["tools"]
    assert {tool["name"] for tool in tools} == set(WRITES if who == "write-only" else READS)
    assert all(tool["annotations"]["readOnlyHint"] == (tool["name"] in READS) for tool in tools)


@pytest.mark.parametrize("method", ["resources/read", "prompts/get"])
def test_a_write_only_token_reads_nothing_by_other_ways(
    site: Site, tokens: dict[str, str], method: str
) -> None:
    asked = (
        {"uri": "crew://context"}
        if method == "resources/read"
        else {"name": "recall", "arguments": {"topic": "x"}}
    )
    answer = post(site, tokens["write-only"], method, **asked).json()
    assert "scope read" in answer["error"]["message"]


def test_a_token_of_another_workspace_sees_nothing_of_this_one(site: Site, tokens: dict[str, str]) -> None:
    post(site, tokens["owner"], "tools/call", name="learn_add", arguments={"rule": "only in default, ever"})
    rows = post(site, tokens["elsewhere"], "tools/call", name="learn_list", arguments={"limit": 100})
    assert "only in default" not in rows.text
    assert post(site, tokens["elsewhere"], "tools/list", "?workspace=default").status_code == 404


def test_a_member_removes_nothing_of_others(site: Site, tokens: dict[str, str]) -> None:
    taught = post(
        site, tokens["owner"], "tools/call", name="learn_add", arguments={"rule": "keep this rule safe"}
    )
    cited = taught.json()["result"]["structuredContent"]["citation"]
    answer = post(site, tokens["member"], "tools/call", name="learn_remove", arguments={"query": cited})
    assert answer.json()["result"]["structuredContent"]["outcome"] == "forbidden"
    assert answer.json()["result"]["isError"]


def test_missing_and_foreign_workspaces_look_the_same(site: Site, tokens: dict[str, str]) -> None:
    member = tokens["member"]
    foreign, missing = (
        post(site, member, "tools/list", f"?workspace={slug}") for slug in ("other", "nowhere")
    )
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text.replace("other", "nowhere") == missing.text


@pytest.mark.parametrize(("profile", "logs"), [("coding", True), ("chat", False), ("all", True)])
def test_a_profile_limits_the_list(site: Site, tokens: dict[str, str], profile: str, logs: bool) -> None:
    tools = post(site, tokens["owner"], "tools/list", f"?profile={profile}").json()["result"]["tools"]
    assert ("conversation_log" in {tool["name"] for tool in tools}) is logs


def test_an_unknown_profile_is_told_the_known_ones(site: Site, tokens: dict[str, str]) -> None:
    answer = post(site, tokens["owner"], "tools/list", "?profile=poetry")
    assert answer.status_code == 400
    assert "all, coding, chat" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 400),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({}, 200),
    ],
)
def test_foreign_pages_and_names_are_turned_away(
    site: Site, tokens: dict[str, str], headers: dict[str, str], status: int
) -> None:
    answer = post(site, tokens["owner"], "tools/list", headers=headers)
    assert answer.status_code == status


def test_the_site_s_own_pages_may_ask(site: Site, tokens: dict[str, str]) -> None:
    assert post(site, tokens["owner"], "tools/list", headers={"Origin": site.url}).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_nothing_but_post(site: Site, tokens: dict[str, str], method: str) -> None:
    headers = {"Authorization": f"Bearer {tokens['owner']}", "Accept": "text/event-stream"}
    answer = httpx2.request(method, f"{site.url}/mcp", headers=headers, timeout=10)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_who_shows_no_token_is_told_how(site: Site) -> None:
    answer = post(site, "", "tools/list")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert "Authorization: Bearer TOKEN" in answer.json()["error"]["message"]
    wrong = post(site, "crew_" + "0" * 64, "tools/list")
    assert (wrong.status_code, "expired or revoked" in wrong.text) == (401, True)


def test_a_body_over_the_limit_is_not_read(site: Site, tokens: dict[str, str]) -> None:
    answer = post(site, tokens["owner"], "tools/call", name="learn_add", arguments={"rule": "x" * 3_000_000})
    assert answer.status_code == 413


def test_a_session_cookie_opens_nothing_here(site: Site) -> None:
    headers = {"Cookie": "sessionid=anything", "Accept": "application/json, text/event-stream"}
    answer = httpx2.post(f"{site.url}/mcp", json={}, headers=headers, timeout=10)
    assert answer.status_code == 401
