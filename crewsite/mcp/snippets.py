"""What a person pastes into their coding agent to connect it: commands and settings files, ready to use.
Pure; formats as each program documents them."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crewsite.mcp.constants import SERVER_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLACEHOLDER: Final = "YOUR_TOKEN"


@dataclass(frozen=True, slots=True)
class Snippet:
    """`where` is a file or "Terminal"."""

    slug: str
    client: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Program:
    """How `crew mcp` is started on this machine."""

    command: str
    words: Sequence[str] = ()
    environment: Mapping[str, str] | None = None


def http_snippets(url: str, token: str) -> list[Snippet]:
    header = f"Authorization: Bearer {token}"
    headers = {"Authorization": f"Bearer {token}"}
    pair = f'"Authorization" = {_quoted(headers["Authorization"])}'
    codex = f"[mcp_servers.{SERVER_NAME}]\nurl = {_quoted(url)}\nhttp_headers = {{ {pair} }}"
    return [
        Snippet("claude", "Claude Code", "Terminal", _add_command("claude", url, header)),
        Snippet("codex", "Codex", "~/.codex/config.toml", codex),
        Snippet("cursor", "Cursor", "~/.cursor/mcp.json", _file({"url": url, "headers": headers})),
        Snippet("qwen", "Qwen Code", "Terminal", _add_command("qwen", url, header)),
        Snippet("gemini", "Gemini CLI", "Terminal", _add_command("gemini", url, header)),
        Snippet("kiro", "Kiro", "~/.kiro/settings/mcp.json", _file({"url": url, "headers": headers})),
    ]


def stdio_snippets(program: Program) -> list[Snippet]:
    entry: dict[str, Any] = {"command": program.command, "args": list(program.words)}
    if program.environment:
        entry["env"] = dict(program.environment)
    return [
        Snippet("claude", "Claude Code", "Terminal", _stdio_command("claude", program, "--")),
        Snippet("codex", "Codex", "~/.codex/config.toml", _codex_stdio(program)),
        Snippet("cursor", "Cursor", "~/.cursor/mcp.json", _file(entry)),
        Snippet("qwen", "Qwen Code", "Terminal", _stdio_command("qwen", program)),
        Snippet("gemini", "Gemini CLI", "Terminal", _stdio_command("gemini", program)),
        Snippet("kiro", "Kiro", "~/.kiro/settings/mcp.json", _file(entry)),
    ]


def _add_command(program: str, url: str, header: str) -> str:
    words = [program, "mcp", "add", "--scope", "user", "--transport", "http"]
    if program == "claude":  # its option takes every word up to the next option
        return f"{shlex.join(words)} {SERVER_NAME} {shlex.quote(url)} --header {shlex.quote(header)}"
    return f"{shlex.join(words)} --header {shlex.quote(header)} {SERVER_NAME} {shlex.quote(url)}"


def _stdio_command(name: str, program: Program, divider: str = "") -> str:
    words = [name, "mcp", "add", "--scope", "user"]
    if name == "claude":
        words.append(SERVER_NAME)
    for key, value in (program.environment or {}).items():
        words += ["--env", f"{key}={value}"]
    if name != "claude":
        words.append(SERVER_NAME)
    return shlex.join([*words, *([divider] if divider else []), program.command, *program.words])


def _codex_stdio(program: Program) -> str:
    lines = [f"[mcp_servers.{SERVER_NAME}]", f"command = {_quoted(program.command)}"]
    lines.append(f"args = {json.dumps(list(program.words))}")
    if program.environment:
        pairs = ", ".join(f"{_quoted(key)} = {_quoted(value)}" for key, value in program.environment.items())
        lines.append(f"env = {{ {pairs} }}")
    return "\n".join(lines)


def _file(entry: Mapping[str, Any]) -> str:
    return json.dumps({"mcpServers": {SERVER_NAME: entry}}, indent=2)


def _quoted(text: str) -> str:
    """A JSON text is a TOML text as well."""
    return json.dumps(text)
