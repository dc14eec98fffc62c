"""Shell completion, asked as the shell asks."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from crewsite.cli import GROUPS
from crewsite.completion import script


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("completion") / "crew.bash"
    file.write_text(script("bash"))
    return file


def completed(bash: Path, *words: str) -> set[str]:
    """What Tab offers after these words; the last one is being typed."""
    typed = " ".join(f"'{word}'" for word in ("crew", *words))
    asked = (
        f'source {bash}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _shtab_crew; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("doc",), {"doctor"}),
        (("embeddings", ""), {"status", "install", "use", "backfill", "rebuild"}),
        (("learn", "add", "--ca"), {"--category"}),
        (("memory", "search", "--se"), {"--server"}),
        (("token", "cr"), {"create"}),
        (("completion", ""), {"bash", "zsh"}),
    ],
)
def test_bash_completes_commands_verbs_and_options(
    bash: Path, words: tuple[str, ...], offered: set[str]
) -> None:
    assert offered <= completed(bash, *words)


def test_every_command_is_offered(bash: Path) -> None:
    assert completed(bash, "") >= set(GROUPS)


def test_the_zsh_script_names_every_command() -> None:
    made = script("zsh")
    assert made.startswith("#compdef crew")
    assert all(name in made for name in GROUPS)
    if zsh := which("zsh"):
        assert subprocess.run([zsh, "-n"], input=made, text=True, check=False).returncode == 0
