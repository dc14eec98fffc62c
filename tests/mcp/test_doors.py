"""The official client at both doors: the list, each tool with valid and broken arguments, resources and
prompts, in the protocol's old and new revision."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.mcp.conftest import over_http, over_stdio
from tests.site import make_token

if TYPE_CHECKING:
    from mcp import Client

    from tests.site import Site

pytestmark = pytest.mark.sqlite_only

TOOLS = [
    "learn_add",
    "learn_list",
    "learn_remove",
    "memory_recall",
    "memory_remember",
    "memory_context",
    "conversation_log",
]
VALID: dict[str, dict[str, Any]] = {
    "learn_add": {"rule": "always use pytest for tests"},
    "learn_list": {"limit": 5, "offset": 0},
    "memory_recall": {"query": "pytest", "kinds": ["lesson"]},
    "memory_remember": {"key": "pref.editor", "value": "vim"},
    "memory_context": {"query": "write tests"},
    "conversation_log": {"messages": [{"role": "user", "content": "we moved to pytest"}], "session": "s1"},
    "learn_remove": {"query": "always use pytest for tests"},
}
BROKEN: dict[str, list[tuple[dict[str, Any], str]]] = {
    "learn_add": [
        ({}, "rule"),
        ({"rule": "ab"}, "at least 3"),
        ({"rule": "use x", "category": "odd"}, "'tool'"),
    ],
    "learn_list": [({"limit": "many"}, "limit"), ({"page": 2}, "Known: limit, offset")],
    "learn_remove": [({}, "query"), ({"query": "les:999999"}, "learn_list shows")],
    "memory_recall": [
        ({"query": ""}, "empty"),
        ({"query": "x" * 2_001}, "2,000"),
        ({"query": "x", "kinds": ["y"]}, "semantic"),
    ],
    "memory_remember": [
        ({}, "Give either"),
        ({"key": "odd.key", "value": "x"}, "pref."),
        ({"text": "short"}, "10"),
    ],
    "memory_context": [({"query": "x" * 2_001}, "2,000"), ({"topic": "x"}, "Known: query")],
    "conversation_log": [
        ({}, "messages"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": "x"}] * 201}, "200"),
    ],
}


async def walk(client: Client) -> None:
    """Everything one client may do, on one connection."""
    assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
    for name, arguments in VALID.items():
        answer = await client.call_tool(name, arguments)
        assert not answer.is_error, answer
        assert answer.structured_content["text"] == answer.content[0].text
    for name, cases in BROKEN.items():
        for wrong, says in cases:
            answer = await client.call_tool(name, wrong)
            assert answer.is_error, (name, wrong)
            assert says in answer.content[0].text
    unknown = await client.call_tool("forget_everything", {})
    assert unknown.is_error
    assert "learn_add, learn_list" in unknown.content[0].text
    await look_around(client)


async def look_around(client: Client) -> None:
    assert [str(item.uri) for item in (await client.list_resources()).resources] == ["crew://context"]
    briefing = (await client.read_resource("crew://context")).contents[0]
    assert "[CRITICAL RULES]" in briefing.text
    with pytest.raises(MCPError, match="Known: crew://context"):
        await client.read_resource("crew://secrets")
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recall", "teach"]
    recalled = await client.get_prompt("recall", {"topic": "editor"})
    assert "[sem:pref.editor]" in recalled.messages[0].content.text
    taught = await client.get_prompt("teach", {"rule": "be brief"})
    assert taught.messages[0].content.text.endswith("be brief")
    with pytest.raises(MCPError, match="needs the argument topic"):
        await client.get_prompt("recall", {"topic": " "})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_everything_works_over_http(site: Site, token: str, mode: str) -> None:
    async with over_http(site, token, mode=mode) as client:
        await walk(client)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_everything_works_over_stdio(site: Site, token: str, mode: str) -> None:
    async with over_stdio(site, "--token", token, mode=mode) as client:
        await walk(client)


async def test_one_rule_through_both_doors_is_one_row_of_the_same_person(site: Site, token: str) -> None:
    rule = {"rule": "name branches after issues"}
    async with over_http(site, token) as client:
        assert (await client.call_tool("learn_add", rule)).structured_content["outcome"] == "inserted"
    async with over_stdio(site, "--token", token) as client:
        assert (await client.call_tool("learn_add", rule)).structured_content["outcome"] == "unchanged"
    rows = site.query(
        "SELECT surface, actor FROM memory_events WHERE event = 'create' AND new_value LIKE ?",
        "%name branches%",
    )
    assert rows == [("mcp", "alice")]


async def test_an_operator_needs_no_token_on_this_machine(site: Site) -> None:
    async with over_stdio(site, "--profile", "chat") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS[:-1]
        await client.call_tool("learn_list", {})
    assert site.query(
        "SELECT c.transport, c.token_name, u.is_superuser FROM mcp_toolcall c"
        " JOIN accounts_user u ON u.id = c.user_id ORDER BY c.id DESC LIMIT 1"
    ) == [("stdio", "", 1)]


async def test_a_token_revoked_meanwhile_shuts_a_running_stdio_server_out(site: Site) -> None:
    token = make_token(site, "bob")
    async with over_stdio(site, "--token", token) as client:
        assert not (await client.call_tool("learn_list", {})).is_error
        site.run(
            "from crewsite.accounts.models import ApiToken\n"
            "ApiToken.objects.filter(user__username='bob', name='test').delete()"
        )
        with pytest.raises(MCPError, match="unknown, expired or revoked"):
            await client.call_tool("learn_list", {})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--workspace", "nowhere"), "There is no workspace 'nowhere'."),
        (("--token", "crew_" + "0" * 64), "unknown, expired or revoked"),
    ],
)
def test_a_server_that_may_not_serve_says_why_and_ends_though_its_client_waits(
    site: Site, words: tuple[str, ...], says: str
) -> None:
    command = [sys.executable, "-m", "crewsite.cli", "mcp", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=site.environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.wait(60) == 1
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b""
        assert says in process.stderr.read().decode()


async def test_what_an_agent_logs_waits_for_consolidation(site: Site, token: str) -> None:
    said = [{"role": "user", "content": "deploy on Fridays?"}, {"role": "assistant", "content": "Never."}]
    async with over_http(site, token) as client:
        await client.call_tool(
            "conversation_log", {"messages": said, "session": "friday", "project": "/srv/app"}
        )
        again = await client.call_tool(
            "conversation_log",
            {"messages": [*said, {"role": "user", "content": "Good."}], "session": "friday"},
        )
    assert again.structured_content["stored"] == 1
    found = site.query(
        "SELECT c.surface, c.project, c.learns, c.consolidated_until, m.role, m.content"
        " FROM conversations_message m"
        " JOIN conversations_conversation c ON c.id = m.conversation_id"
        " WHERE c.external_ref LIKE '%:friday' ORDER BY m.seq"
    )
    assert found == [
        ("mcp", "/srv/app", 1, 0, role, text)
        for role, text in (("user", "deploy on Fridays?"), ("assistant", "Never."), ("user", "Good."))
    ]
