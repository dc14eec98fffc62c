"""`crew chat`: a chat in the terminal, or one message from a pipe. Parses and hands over to `terminal`."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError

from crewsite.accounts.console import (
    add_place,
    server_named,
    wait_for_embedder,
    workspace_named,
)
from crewsite.chat.constants import MESSAGE_MAX_CHARS
from crewsite.chat.terminal.session import Session
from crewsite.conversations.models import Conversation

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from crewsite.chat.terminal.door import ChatDoor


class Command(BaseCommand):
    help = (
        "Talks with the site's model in the terminal. With a message, or something piped in, answers that and"
        " ends. Slash commands work; /help lists them."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("message", nargs="?", default="", help="one message; its answer, and the end")
        parser.add_argument("--conversation", default="", metavar="ID", help="continue this one")
        parser.add_argument(
            "--mode", choices=Conversation.Mode.values, default="", help="what it does with memory"
        )
        parser.add_argument("--model", default="", metavar="NAME", help="the model that answers")
        parser.add_argument("--json", action="store_true", help="one JSON object for each answer")
        add_place(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        text = _message(options["message"])
        if text is None:
            # A person's Ctrl-C stops an answer, whatever the program before this one made of the signal.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        session = Session(_door(options), as_json=options["json"])
        session.open(conversation=options["conversation"], mode=options["mode"], model=options["model"])
        code = session.talk() if text is None else session.once(text)
        if code:
            sys.exit(code)


def _message(typed: str) -> str | None:
    """What is to be answered: typed, or else piped in. None for a person at a terminal."""
    if sys.stdin.isatty() and not typed:
        return None
    text = (typed or sys.stdin.read()).strip()
    if not text:
        raise CommandError("There is nothing to answer: the message is empty.", returncode=2)
    if len(text) > MESSAGE_MAX_CHARS:
        raise CommandError(
            f"The message has {len(text):,} characters; at most {MESSAGE_MAX_CHARS:,} are allowed."
        )
    return text


def _door(options: dict[str, Any]) -> ChatDoor:
    server = server_named(options)
    if server is not None:
        from crewsite.chat.terminal.remote import RemoteChat

        return RemoteChat(server)
    from crewsite.chat.terminal.local import LocalChat

    door = LocalChat(workspace_named(options["workspace"]))
    wait_for_embedder()
    return door
