"""Clients of others from the npm registry: the official TypeScript client, and the Inspector's command line.
Where npm cannot fetch them, they are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.mcp.test_doors import BROKEN, TOOLS, VALID

if TYPE_CHECKING:
    from tests.site import Site

pytestmark = [pytest.mark.sqlite_only, pytest.mark.slow]
PACKAGES: Final = ("@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/inspector@0.15.0")
FETCH_SECONDS: Final = 150
INHERITED: Final = ("CREW_HOME", "DJANGO_SETTINGS_MODULE", "PYTHONPATH")  # the Inspector passes on no others
CLIENT: Final = Path(__file__).parent / "client.mjs"


@pytest.fixture(scope="session")
def npm() -> Path:
    """A folder with both packages, fetched once a machine."""
    program = shutil.which("npm")
    if program is None:
        pytest.skip("npm is not installed")
    folder = Path(tempfile.gettempdir()) / f"crewsite-test-npm-{os.getuid()}"
    wanted = folder / "complete.json"
    if not wanted.exists() or json.loads(wanted.read_text()) != list(PACKAGES):
        folder.mkdir(mode=0o700, exist_ok=True)
        command = [program, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
        try:
            done = subprocess.run(
                [*command, *PACKAGES], capture_output=True, check=False, timeout=FETCH_SECONDS
            )
        except subprocess.TimeoutExpired:
            pytest.skip("npm is too slow here")
        if done.returncode:
            pytest.skip("the packages cannot be fetched here")
        wanted.write_text(json.dumps(PACKAGES))
    return folder


def node(folder: Path, *words: str, environment: dict[str, str] | None = None) -> Any:
    done = subprocess.run(
        ["node", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_typescript_client_calls_every_tool_with_good_and_bad_arguments(
    site: Site, token: str, npm: Path
) -> None:
    calls = [*VALID.items(), *((name, wrong) for name, cases in BROKEN.items() for wrong, _ in cases)]
    says = [says for cases in BROKEN.values() for _, says in cases]
    script = shutil.copy(CLIENT, npm)
    told = node(npm, script, f"{site.url}/mcp", token, json.dumps(calls))
    assert told["tools"] == TOOLS
    good, bad = told["answers"][: len(VALID)], told["answers"][len(VALID) :]
    assert [answer["name"] for answer in good if answer["isError"]] == []
    assert all(answer["structured"]["text"] == answer["text"] for answer in good)
    assert [answer for answer in bad if not answer["isError"]] == []
    assert all(text in answer["text"] for text, answer in zip(says, bad, strict=True))


def test_the_inspectors_command_line_lists_and_calls(site: Site, npm: Path) -> None:
    crew = str(Path(sys.executable).with_name("crew"))
    inherited = [part for name in INHERITED for part in ("-e", f"{name}={site.environment[name]}")]

    def ask(method: str, *more: str) -> Any:
        program = "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"
        words = [program, "--cli", *inherited, crew, "mcp", "--method", method, *more]
        return node(npm, *words, environment=site.environment)

    assert [tool["name"] for tool in ask("tools/list")["tools"]] == TOOLS
    call = ("--tool-name", "learn_add", "--tool-arg")
    assert ask("tools/call", *call, "rule=look before you leap")["structuredContent"]["outcome"] == "inserted"
    refused = ask("tools/call", *call, "rule=ab")
    assert refused["isError"]
    assert "at least 3" in refused["content"][0]["text"]
    assert [str(item["uri"]) for item in ask("resources/list")["resources"]] == ["crew://context"]
    assert [item["name"] for item in ask("prompts/list")["prompts"]] == ["recall", "teach"]
