"""What people paste: every snippet parses as what its program reads, and carries address and token."""

from __future__ import annotations

import json
import shlex
import tomllib

import pytest

from crewsite.mcp.snippets import Program, Snippet, http_snippets, stdio_snippets

URL = "https://crew.example/mcp?profile=coding"
CLIENTS = ["Claude Code", "Codex", "Cursor", "Qwen Code", "Gemini CLI", "Kiro"]
PROGRAM = Program("/opt/my crew/bin/crew", ["mcp", "--profile", "coding"], {"CREW_HOME": "/data/a b"})


def by_slug(snippets: list[Snippet]) -> dict[str, Snippet]:
    assert [snippet.client for snippet in snippets] == CLIENTS
    return {snippet.slug: snippet for snippet in snippets}


@pytest.mark.parametrize("slug", ["claude", "qwen", "gemini"])
def test_a_command_adds_the_address_with_the_token(slug: str) -> None:
    words = shlex.split(by_slug(http_snippets(URL, "crew_abc"))[slug].text)
    assert words[:3] == [slug, "mcp", "add"]
    assert {"crewsite", URL, "Authorization: Bearer crew_abc"} <= set(words)
    assert words[words.index("--transport") + 1] == "http"


@pytest.mark.parametrize("slug", ["cursor", "kiro"])
def test_a_json_file_holds_the_address_with_the_token(slug: str) -> None:
    entry = json.loads(by_slug(http_snippets(URL, "crew_abc"))[slug].text)["mcpServers"]["crewsite"]
    assert entry == {"url": URL, "headers": {"Authorization": "Bearer crew_abc"}}


def test_codex_gets_toml() -> None:
    entry = tomllib.loads(by_slug(http_snippets(URL, "crew_abc"))["codex"].text)["mcp_servers"]["crewsite"]
    assert entry == {"url": URL, "http_headers": {"Authorization": "Bearer crew_abc"}}


def test_without_a_token_the_program_of_this_machine_is_started() -> None:
    snippets = by_slug(stdio_snippets(PROGRAM))
    codex = tomllib.loads(snippets["codex"].text)["mcp_servers"]["crewsite"]
    assert codex == {
        "command": PROGRAM.command,
        "args": ["mcp", "--profile", "coding"],
        "env": {"CREW_HOME": "/data/a b"},
    }
    entry = json.loads(snippets["kiro"].text)["mcpServers"]["crewsite"]
    assert (entry["command"], entry["env"]) == (PROGRAM.command, {"CREW_HOME": "/data/a b"})
    for slug in ("claude", "qwen", "gemini"):
        words = shlex.split(snippets[slug].text)
        assert words[-4:] == [PROGRAM.command, "mcp", "--profile", "coding"]
        assert words[words.index("--env") + 1] == "CREW_HOME=/data/a b"
