"""`crew chat`: piped, with a message, in a terminal, here and on another site."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from django.core.management import CommandError, call_command

from crewsite.conversations.models import Conversation
from tests.commands.conftest import ROOT, Crew

if TYPE_CHECKING:
    from crewsite.accounts.models import Workspace
    from tests.site import Site


NEWLINE = "\n"
NUMBER = re.compile(r"\d+")
OF_ITS_DOOR = re.compile(r".*reply_options.*\n")  # a terminal is told how to answer there


@pytest.fixture(params=["here", "there"])
def crew(request: pytest.FixtureRequest) -> Crew:
    found: Crew = request.getfixturevalue(request.param)
    return found


def test_what_is_piped_in_is_answered_and_the_command_ends(here: Crew) -> None:
    done = here("chat", typed="[script:stream n=3]\n")
    assert (done.returncode, done.stdout) == (0, "word0 word1 word2 \n")
    assert "persistent" in done.stderr


def test_a_turn_is_one_json_object_and_its_conversation_goes_on(crew: Crew) -> None:
    first = json.loads(crew("chat", "[script:stream n=2]", "--json", "--mode", "incognito").stdout)
    assert (first["message"], first["finish_reason"], first["error"]) == ("[script:stream n=2]", "stop", "")
    refused = crew("chat", "/learn always drink tea", "--conversation", first["conversation"])
    assert refused.returncode == 1
    assert "incognito" in refused.stderr
    changed = crew("chat", "/temporary", "--json", "--conversation", first["conversation"])
    assert json.loads(changed.stdout)["data"] == {"mode": "temporary"}


def test_memory_alone_may_be_the_model(here: Crew) -> None:
    assert json.loads(here("chat", "hello", "--json", "--model", "memory").stdout)["model"] == "memory"


def test_an_answer_that_cites_memory_is_told_like_any_other(here: Crew) -> None:
    """Commands load no page, and a citation is a link to one."""
    assert here("learn", "add", "feed the axolotl on Mondays").returncode == 0
    done = here("chat", "when do I feed the axolotl?", "--model", "memory")
    assert (done.returncode, "axolotl on Mondays" in done.stdout) == (0, True), done.stderr
    assert "[les:" in done.stdout


@pytest.mark.django_db
def test_a_model_that_is_not_there_is_refused_with_those_that_are(home: Workspace) -> None:
    with pytest.raises(CommandError, match="There are: default"):
        call_command("chat", "hello", "--model", "bogus")
    assert not Conversation.objects.exists()


def test_a_failed_answer_exits_with_1_and_says_why(there: Crew) -> None:
    done = there("chat", "[script:key]")
    assert done.returncode == 1
    assert "No answer:" in done.stderr


def test_an_unknown_conversation_and_an_empty_message_are_refused(here: Crew) -> None:
    assert here("chat", "hello", "--conversation", "nonsense").returncode == 1
    empty = here("chat", typed="  \n")
    assert empty.returncode == 2
    assert "empty" in empty.stderr


class Terminal:
    """`crew chat` with a person in front of it."""

    def __init__(self, crew: Crew, *words: str) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crewsite.cli", "chat", *words],
            cwd=ROOT,
            env={**crew.environment, "TERM": "dumb"},  # type: ignore[attr-defined]
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.master, f"{text}\n".encode())

    def wait_for(self, text: str, *, seconds: float = 20) -> None:
        os.set_blocking(self.master, False)
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            with contextlib.suppress(BlockingIOError, OSError):
                self.seen += os.read(self.master, 65_536).decode(errors="replace")
            time.sleep(0.02)

    def forget(self) -> None:
        self.seen = ""

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)
        os.close(self.master)


def test_ctrl_c_stops_the_answer_and_keeps_the_conversation(crew: Crew, site: Site) -> None:
    terminal = Terminal(crew)
    try:
        terminal.wait_for("> ")
        terminal.type("[script:stream n=400 delay=0.05]")
        terminal.wait_for("word1 ")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("Stopped.")
        terminal.forget()
        terminal.type("[script:stream n=1]")
        terminal.wait_for("word0 ")
        terminal.wait_for("> ")
        terminal.type("/exit")
        assert terminal.process.wait(20) == 0
    finally:
        terminal.close()
    reasons = site.query("SELECT finish_reason FROM conversations_message ORDER BY id DESC LIMIT 3")
    assert [row for row in reasons if row[0]] == [("stop",), ("stopped",)]


@pytest.fixture
def asks(here: Crew) -> Iterator[None]:
    """No tool runs without a yes."""
    before = here("config", "get", "CHAT_TOOLS_APPROVED").stdout.strip()
    here("config", "set", "CHAT_TOOLS_APPROVED", "")
    yield
    here("config", "set", "CHAT_TOOLS_APPROVED", before)


@pytest.mark.usefixtures("asks")
def test_a_person_is_asked_before_a_tool_runs(crew: Crew) -> None:
    terminal = Terminal(crew)
    try:
        terminal.wait_for("> ")
        terminal.type('[script:learn rule="Always water the plants"]')
        terminal.wait_for("May it?")
        terminal.type("1")
        terminal.wait_for(": done")
        terminal.wait_for("the answer goes on.")
        terminal.type("/exit")
        assert terminal.process.wait(20) == 0
    finally:
        terminal.close()


@pytest.mark.usefixtures("asks")
def test_without_a_person_a_tool_that_asks_is_denied(crew: Crew) -> None:
    done = crew("chat", '[script:learn rule="Never water the cat"]')
    assert done.returncode == 0
    assert "nobody is here to allow it" in done.stderr
    assert "Never water the cat" not in crew("learn", "list").stdout


def test_commands_say_the_same_here_and_on_another_site(here: Crew, there: Crew) -> None:
    """As the same person, in a conversation each, with a row each to forget."""
    told = []
    for crew, word in ((here, "sextant"), (there, "astrolabe")):
        begun = json.loads(crew("chat", "[script:stream n=1]", "--json").stdout)["conversation"]
        lines = (
            f"/learn Oil the {word} in May",
            f"/recall {word}",
            "/context",
            f"/forget {word}",
            f"/forget {word} --all",
            f"/forget {word}",
            "/model nope",
        )
        said = [crew("chat", line, "--conversation", begun) for line in lines]
        texts = [f"{done.stdout}{done.stderr.partition(NEWLINE)[2]}".replace(word, "WORD") for done in said]
        told.append([OF_ITS_DOOR.sub("", NUMBER.sub("N", text)) for text in texts])
    assert told[0] == told[1]
    assert "Lesson saved" in told[0][0]
    assert "critical_rules" in told[0][2]
    assert "Is it this?" in told[0][3]
    assert "Forgotten" in told[0][4]
    assert "offers no model “nope”" in told[0][6]
