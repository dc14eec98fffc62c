from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command

from lessons.models import Lesson

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_embedder(home, settings) -> None:
    settings.CREW_EMBED_MODEL_PATH = ""


def run(capsys, *words: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of `crew learn`."""
    code = 0
    try:
        call_command("learn", *words)
    except SystemExit as error:
        code = int(error.code or 0)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_lesson_is_taught_listed_and_removed(capsys) -> None:
    code, out, _ = run(capsys, "add", "always use pytest", "--negative", "unittest", "--category", "tool")
    row = Lesson.objects.get()
    assert (code, out.strip()) == (0, f'Kept: "always use pytest — NOT: unittest" [les:{row.pk}]')
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert f"les:{row.pk}" in out
    assert "unittest" in out
    code, out, _ = run(capsys, "remove", "pytest")
    assert (code, "1 removed." in out) == (0, True)
    assert not Lesson.objects.exists()


def test_json_output_is_json_alone(capsys) -> None:
    _, out, _ = run(capsys, "add", "always use pytest", "--json")
    assert json.loads(out)["outcome"] == "inserted"
    _, out, _ = run(capsys, "list", "--json")
    assert [row["rule"] for row in json.loads(out)["lessons"]] == ["always use pytest"]
    _, out, _ = run(capsys, "remove", "pytest", "--json")
    assert len(json.loads(out)["removed"]) == 1


def test_a_refusal_goes_to_stderr_and_exits_with_1(capsys) -> None:
    code, out, err = run(capsys, "add", "ab")
    assert (code, out) == (1, "")
    assert "at least 3 characters" in err


def test_several_matches_are_listed_and_need_all(capsys) -> None:
    run(capsys, "add", "use pytest for unit tests")
    run(capsys, "add", "call the dentist about pytest")
    code, out, err = run(capsys, "remove", "pytest")
    assert code == 1
    assert "dentist" in out
    assert "add --all" in err
    assert Lesson.objects.count() == 2
    assert run(capsys, "remove", "pytest", "--all")[0] == 0
    assert Lesson.objects.count() == 0


def test_what_matches_nothing_says_so(capsys) -> None:
    assert run(capsys, "remove", "nothing like it")[::2] == (1, "No lesson matches.\n")


def test_a_list_says_how_many_it_shows(capsys) -> None:
    for rule in ("use pytest", "answer in French", "water the plants"):
        run(capsys, "add", rule)
    _, out, err = run(capsys, "list", "--limit", "2", "--json")
    assert (len(json.loads(out)["lessons"]), json.loads(out)["total"], err) == (2, 3, "Showing 2 of 3.\n")


def test_a_removed_lesson_is_listed_and_brought_back(capsys) -> None:
    run(capsys, "add", "use pytest")
    run(capsys, "remove", "pytest")
    _, out, _ = run(capsys, "list", "--deleted", "--json")
    citation = json.loads(out)["lessons"][0]["id"]
    status, out, _ = run(capsys, "restore", citation)
    assert (status, out) == (0, f"restored {citation}\n")
    assert Lesson.objects.get().citation == citation


@pytest.mark.parametrize("form", ["{}", "#{}", "les:{}", "[les:{}]"])
def test_an_id_is_taken_in_every_form_it_was_ever_seen_in(capsys, form: str) -> None:
    run(capsys, "add", "use pytest")
    name = form.format(Lesson.objects.get().pk)
    assert run(capsys, "remove", name)[0] == 0
    assert not Lesson.objects.exists()
    assert run(capsys, "restore", name)[0] == 0
    assert Lesson.objects.count() == 1


def test_a_number_in_a_rule_is_a_text_before_it_is_an_id(capsys) -> None:
    run(capsys, "add", "use pytest")
    number = Lesson.objects.get().pk
    run(capsys, "add", f"indent by {number} blanks")
    assert run(capsys, "remove", str(number))[0] == 0
    assert Lesson.objects.get().pk == number


def test_every_answer_prints_an_id_in_one_form(capsys) -> None:
    old = json.loads(run(capsys, "add", "use pytest", "--json")[1])
    new = json.loads(run(capsys, "add", "never use pytest", "--json")[1])
    assert new["superseded"] == [old["id"]]
    assert old["id"].startswith("les:")
    (gone,) = json.loads(run(capsys, "list", "--deleted", "--json")[1])["lessons"]
    assert (gone["id"], gone["superseded_by"]) == (old["id"], new["id"])


@pytest.mark.parametrize(
    "words", [("restore", "les:99"), ("restore", "x"), ("list", "--workspace", "nowhere")]
)
def test_what_does_not_exist_is_an_error_that_names_it(capsys, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="There is no"):
        call_command("learn", *words)


def test_a_limit_beyond_every_table_lists_all(capsys) -> None:
    run(capsys, "add", "always use pytest")
    code, out, _ = run(capsys, "list", "--limit", "9" * 30)
    assert (code, "pytest" in out) == (0, True)


@pytest.mark.parametrize("citation", ["les:" + "9" * 40, "les:" + "9" * 5_000, "les:\udcff", "les:"])
def test_an_id_that_cannot_be_is_not_found(capsys, citation: str) -> None:
    with pytest.raises(CommandError, match="There is no"):
        run(capsys, "restore", citation)


def test_a_workspace_named_in_broken_bytes_is_not_found(capsys) -> None:
    with pytest.raises(CommandError, match="There is no workspace"):
        run(capsys, "list", "--workspace", "\udcff")
