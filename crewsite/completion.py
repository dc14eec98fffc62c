"""`crew completion bash|zsh`: a script that completes commands and options, made once from the parsers, so
that the Tab key starts no Python."""

from __future__ import annotations

import argparse
import sys
from typing import Final

SHELLS: Final = ("bash", "zsh")
HOW_TO_KEEP: Final = """\
Keep it with one of:
  crew completion bash > ~/.local/share/bash-completion/completions/crew
  crew completion zsh > ~/.zfunc/_crew      (with fpath+=~/.zfunc before compinit in ~/.zshrc)"""


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="crew completion",
        description="Prints a completion script for a shell.",
        epilog=HOW_TO_KEEP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    options = parser.parse_args(words)
    sys.stdout.write(script(options.shell))
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def script(shell: str) -> str:
    import django
    import shtab

    django.setup()
    made: str = shtab.complete(whole_parser(), shell)
    return f"{made}\n"


def whole_parser() -> argparse.ArgumentParser:
    """All of `crew` in one parser, with the parts that each command adds by itself."""
    from django.core.management import CommandParser, get_commands, load_command_class

    from crewsite.cli import ALIASES, GROUPS

    whole = argparse.ArgumentParser(prog="crew", description="Commands of a Crewsite.")
    whole.add_argument("--version", action="store_true")
    commands = whole.add_subparsers(parser_class=CommandParser)
    known = get_commands()
    for name, text in GROUPS.items():
        part = commands.add_parser(name, help=text)
        if name == "completion":
            add_arguments(part)
            continue
        app = known[ALIASES.get(name, name)]
        if isinstance(app, str):
            load_command_class(app, ALIASES.get(name, name)).add_arguments(part)
    return whole
