"""Prompts as Markdown files: front matter that declares the variables, instructions, and the data below a
line of its own. What a prompt is asked for belongs to whoever renders it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
DATA_LINE: Final = "<!-- data -->"
_FRONT: Final = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)
_HOLE: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class PromptError(Exception):
    """A prompt file, or what it is rendered with, breaks the rules of this module."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """`instructions` are ours; `data` holds what people and models wrote, fenced by the caller."""

    instructions: str
    data: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A file as it was read. `sha256` names exactly these bytes."""

    name: str
    version: str
    variables: frozenset[str]
    body: str
    sha256: str

    def render(self, values: Mapping[str, object]) -> Rendered:
        """Fill in every declared variable, and no other. A value is never looked into for further ones."""
        if set(values) != self.variables:
            missing = ", ".join(sorted(self.variables - set(values))) or "none"
            unknown = ", ".join(sorted(set(values) - self.variables)) or "none"
            raise PromptError(f"{self.name}: missing variables: {missing}; unknown: {unknown}.")
        head, _, data = self.body.partition(DATA_LINE)
        return Rendered(*(_filled(part.strip(), values) for part in (head, data)))


def prompt_load(path: Path) -> Prompt:
    """Read and check one file. Raises PromptError when holes and declared variables differ."""
    import yaml

    raw = path.read_bytes()
    found = _FRONT.match(raw.decode())
    if found is None:
        raise PromptError(f"{path.name} has no front matter.")
    front: dict[str, Any] = yaml.safe_load(found[1])
    variables, body = frozenset(front.get("variables") or ()), found[2]
    holes = set(_HOLE.findall(body))
    if holes != variables:
        odd = ", ".join(sorted(holes ^ variables))
        raise PromptError(f"{path.name} declares its variables wrongly: {odd}.")
    if body.count(DATA_LINE) > 1:
        raise PromptError(f"{path.name} has more than one line {DATA_LINE}.")
    digest = hashlib.sha256(raw).hexdigest()
    return Prompt(path.stem, str(front.get("version", "")), variables, body, digest)


def prompt_named(name: str) -> Prompt:
    """A prompt of this folder. Read anew each time, so that the hash is that of the text which was sent."""
    return prompt_load(FOLDER / f"{name}.md")


def prompts_hash(prompts: Sequence[Prompt]) -> str:
    """One hash for a prompt made of several files."""
    return hashlib.sha256("\n".join(prompt.sha256 for prompt in prompts).encode()).hexdigest()


def _filled(text: str, values: Mapping[str, object]) -> str:
    return _HOLE.sub(lambda hole: str(values[hole[1]]), text)
