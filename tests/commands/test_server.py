"""`--server`: the same commands with the same output, over the API of another site."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import get_commands, load_command_class

from tests.site import Site, free_port, make_token

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.commands.conftest import Crew


@pytest.fixture(scope="module", autouse=True)
def rows(site: Site) -> None:
    """A fact that was changed, two episodes of which one is gone, two lessons."""
    site.run(
        "from crewsite.accounts.models import Workspace\n"
        "from crewsite.accounts.console import cli_origin\n"
        "from lessons.services import lesson_delete, lesson_write\n"
        "from memory.services import document_replace, episodic_delete, episodic_write, semantic_write\n"
        "from memory.models import PreferencesDocument\n"
        "home, origin = Workspace.objects.get(slug='default'), cli_origin()\n"
        "for value in ('vim', 'helix'):\n"
        "    semantic_write(home=home, key='pref.editor', value=value, origin=origin)\n"
        "episodic_write(home=home, text='The staging host is called atlas.', origin=origin)\n"
        "gone = episodic_write(home=home, text='Lunch was served on the roof terrace.', origin=origin)\n"
        "episodic_delete(row=gone.row, origin=origin, reason='told so')\n"
        "lesson_write(home=home, rule='always use pytest', origin=origin)\n"
        "lesson_write(home=home, rule='sign every commit', origin=origin, pinned=True)\n"
        "for rule in ('brew tea first', 'brew tea first, then coffee', 'whistle while deploying'):\n"
        "    last = lesson_write(home=home, rule=rule, origin=origin).row\n"
        "lesson_delete(row=last, origin=origin, reason='removed')\n"
        "document_replace(model=PreferencesDocument, workspace=home, text='Tea at four.', origin=origin)\n"
    )


READ = [
    ("memory", "list"),
    ("memory", "list", "--kind", "semantic", "--json"),
    ("memory", "list", "--deleted"),
    ("memory", "list", "--deleted", "--json"),
    ("learn", "list", "--deleted"),
    ("learn", "list", "--deleted", "--limit", "1", "--json"),
    ("memory", "explain", "sem:pref.editor"),
    ("memory", "explain", "doc:preferences", "--json"),
    ("memory", "audit", "epi:2", "--json"),
    ("memory", "as-of", "2031-01-01", "--json"),
    ("memory", "stats"),
    ("memory", "search", "the staging host, the editor and pytest"),
    ("memory", "search", "atlas helix pytest", "--json"),
    ("learn", "list"),
    ("learn", "list", "--limit", "1", "--json"),
    ("memory", "show", "epi:999999"),
    ("memory", "as-of", "yesterday"),
]
# Every command in one process, since starting one for each takes a second.
RUN_HERE = """
import contextlib, io, json
from django.core.management import get_commands, load_command_class
told = []
for words in {words!r}:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            load_command_class(get_commands()[words[0]], words[0]).run_from_argv(["crew", *words])
        except SystemExit as end:
            code = end.code
    told.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""


@dataclass(frozen=True)
class Told:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def over_api(
    site: Site, token: str, settings: Any, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    """`crew ...` with the site in the environment, in this process: one that may not touch a database."""
    settings.CREW_SERVER, settings.CREW_TOKEN = site.url, token

    def run(*words: str) -> Told:
        code: Any = 0
        command = load_command_class(get_commands()[words[0]], words[0])
        try:
            command.run_from_argv(["crew", *words])
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return Told(code, out, err)

    return run


def episode_of(site: Site, text: str) -> str:
    """Other modules write to the same site, perhaps before this one."""
    ((pk,),) = site.query(f"SELECT id FROM memory_episodicmemory WHERE text LIKE '{text}'")
    return f"epi:{pk}"


def test_what_is_read_over_the_api_is_what_is_read_here(site: Site, over_api: Callable[..., Told]) -> None:
    """All in one test: others write to the same site in between."""
    here = [Told(*told) for told in json.loads(site.run(RUN_HERE.format(words=READ)))]
    assert dict(zip(READ, [over_api(*words) for words in READ], strict=True)) == dict(
        zip(READ, here, strict=True)
    )


def test_a_row_is_shown_with_its_fields_and_found_by_its_words(
    over_api: Callable[..., Told], site: Site
) -> None:
    name = episode_of(site, "%called atlas.")
    shown = json.loads(over_api("memory", "show", name, "--json").stdout)
    assert (shown["id"], shown["text"]) == (name, "The staging host is called atlas.")
    assert shown["importance"] == 0.5
    found = json.loads(over_api("memory", "search", "staging host", "--json").stdout)
    assert name in [hit["id"] for hit in found["hits"]]
    assert found["degraded"] == ["embedder_unavailable"]


@pytest.mark.parametrize("name", ["sem:pref.editor", "les:{lesson}", "[{episode}]"])
def test_a_row_reads_the_same_from_here_and_there(
    over_api: Callable[..., Told], site: Site, name: str
) -> None:
    ((lesson,),) = site.query("SELECT id FROM lessons_lesson WHERE rule = 'sign every commit'")
    name = name.format(lesson=lesson, episode=episode_of(site, "%called atlas."))
    words = ("memory", "show", name, "--json")
    ((code, out, _),) = json.loads(site.run(RUN_HERE.format(words=[words])))
    told = over_api(*words)
    assert (code, told.returncode) == (0, 0), told.stderr
    here, there = json.loads(out), json.loads(told.stdout)
    for field in ("id", "text", "source", "created_at"):
        assert here[field] == there[field]


def test_memory_is_written_refused_and_restored(over_api: Callable[..., Told], site: Site) -> None:
    kept = over_api(
        "memory", "remember", "The printer lives on the second floor.", "--tag", "Not A Tag", "--json"
    )
    assert json.loads(kept.stdout)["outcome"] == "stored"
    assert "Not A Tag" in kept.stderr
    fact = over_api("memory", "remember", "fish", "--key", "pref.shell")
    assert fact.stdout.strip() == "created sem:pref.shell"
    refused = over_api("memory", "remember", "short")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Refused (")
    gone = episode_of(site, "Lunch was served%")
    assert over_api("memory", "restore", gone).stdout.startswith(f"restored {gone}")


def test_what_a_person_said_is_changed_from_elsewhere_too(over_api: Callable[..., Told], site: Site) -> None:
    """Whoever types the command is the same person."""
    for value in ("emacs", "kakoune"):
        told = over_api("memory", "remember", value, "--key", "pref.other_editor")
        assert told.returncode == 0, told.stderr
    taught = json.loads(over_api("learn", "add", "label every crate", "--json").stdout)
    shown = json.loads(over_api("memory", "show", taught["citation"], "--json").stdout)
    assert shown["source"] == "user_explicit"


def test_lessons_are_taught_refused_removed_and_restored(over_api: Callable[..., Told]) -> None:
    taught = json.loads(over_api("learn", "add", "never deploy on friday", "--json").stdout)
    assert (taught["outcome"], taught["rule"]) == ("inserted", "never deploy on friday")
    refused = over_api("learn", "add", "ab")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "at least 3 characters" in refused.stderr
    assert over_api("learn", "remove", "deploy on friday").returncode == 0
    assert over_api("learn", "remove", "deploy on friday").returncode == 1
    back = over_api("learn", "restore", taught["citation"])
    assert back.stdout.startswith(f"restored {taught['citation']}")


def test_an_unreachable_site_a_bad_token_and_a_page_that_is_none_are_one_line(
    over_api: Callable[..., Told], site: Site
) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    for words, told in (
        (("--server", nobody), f"{nobody} does not answer"),
        (("--token", "crew_wrong"), "crew token create"),
        (("--server", f"{site.url}/static"), "Is it a Crewsite?"),
        (("--server", "crew.example"), "address such as https://"),
    ):
        done = over_api("learn", "list", *words)
        assert done.returncode in {1, 2}
        assert told in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_token_that_may_only_read_is_refused_by_name(over_api: Callable[..., Told], site: Site) -> None:
    token = make_token(site, "bob", scopes=["read"])
    done = over_api("learn", "add", "never deploy on monday", "--token", token)
    assert done.returncode == 1
    assert "scope" in done.stderr


def test_a_machine_without_a_site_is_given_no_home(there: Crew, tmp_path: Path) -> None:
    done = there("learn", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "no-home").exists()
