from __future__ import annotations

from pathlib import Path

import pytest

from memory.prompts import FOLDER, PromptError, prompt_load, prompt_named, prompts_hash

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted([*FOLDER.glob("*.md"), *(ROOT / "lessons/prompts").glob("*.md")])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_prompt_renders_with_the_variables_it_declares(path: Path) -> None:
    prompt = prompt_load(path)
    rendered = prompt.render({name: f"<{name}>" for name in prompt.variables})
    both = rendered.instructions + rendered.data
    assert all(f"<{name}>" in both for name in prompt.variables)
    assert "{{" not in both
    assert prompt.version


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_unknown_or_a_missing_variable_is_refused(path: Path) -> None:
    prompt = prompt_load(path)
    values = dict.fromkeys(prompt.variables, "x")
    with pytest.raises(PromptError, match="unknown: surplus"):
        prompt.render({**values, "surplus": "x"})
    values.popitem()
    with pytest.raises(PromptError, match="missing"):
        prompt.render(values)


@pytest.mark.parametrize("name", ["preferences", "history"])
def test_what_people_wrote_stands_below_the_instructions(name: str) -> None:
    prompt = prompt_named(name)
    rendered = prompt.render({variable: f"<{variable}>" for variable in prompt.variables})
    assert "<transcript>" in rendered.data
    assert "<transcript>" not in rendered.instructions


@pytest.mark.parametrize(
    ("front", "body"),
    [("variables: [a]", "{{ b }}"), ("variables: [a, b]", "{{a}}"), ("version: 1", "{{a}}")],
)
def test_a_file_that_declares_its_variables_wrongly_is_no_prompt(
    tmp_path: Path, front: str, body: str
) -> None:
    path = tmp_path / "odd.md"
    path.write_text(f"---\n{front}\n---\n{body}\n")
    with pytest.raises(PromptError, match="declares"):
        prompt_load(path)


def test_a_value_is_not_looked_into_for_variables(tmp_path: Path) -> None:
    path = tmp_path / "plain.md"
    path.write_text("---\nvariables: [a, b]\n---\n{{a}} and {{b}}\n")
    assert prompt_load(path).render({"a": "{{b}}", "b": "x"}).instructions == "{{b}} and x"


def test_the_hash_follows_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.md"
    path.write_text("---\nversion: 1\n---\nhello\n")
    before = prompt_load(path)
    path.write_text("---\nversion: 1\n---\nhello!\n")
    after = prompt_load(path)
    assert before.sha256 != after.sha256
    assert prompts_hash([before, after]) != prompts_hash([after, before])
