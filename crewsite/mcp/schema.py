"""From a tool function to the JSON schema a client is shown, and from what a client sends to arguments.
Pure; the rules are those every known client can read (chapter 06, 6.4)."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crewsite.llm.tools import ToolFunction

JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "array": (list,),
    "object": (dict,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_PARAMETER: Final = re.compile(r"^(\w+): +(.*)$")


class WrongArguments(Exception):
    """The text says what to change."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """`schema` is what clients see; `model` checks what they send."""

    tool: str
    description: str
    schema: dict[str, Any]
    model: type[BaseModel]

    def read(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments for the function. Raises WrongArguments."""
        properties: dict[str, Any] = self.schema["properties"]
        given = {
            name: unpacked(value, properties.get(name, {}))
            for name, value in sent.items()
            if value is not None or name in self.schema.get("required", ())
        }
        try:
            checked = self.model.model_validate(given)
        except ValidationError as error:
            raise WrongArguments(self._explained(error)) from None
        return {name: getattr(checked, name) for name in properties}

    def _explained(self, error: ValidationError) -> str:
        known = ", ".join(self.schema["properties"]) or "none"
        lines = [f"{self.tool} was not run; change its arguments:"]
        for item in error.errors(include_url=False, include_input=False, include_context=False):
            where = ".".join(str(part) for part in item["loc"])
            lines.append(f"- {where}: {_advice(item['type'], item['msg'], known)}")
        return "\n".join(lines)


def _advice(kind: str, message: str, known: str) -> str:
    if kind == "missing":
        return "is required and missing."
    if kind == "extra_forbidden":
        return f"is no parameter of this tool. Known: {known}."
    if kind in {"list_type", "sequence_str", "is_instance_of"}:
        return 'must be a list, such as ["a", "b"].'
    if kind == "string_type":
        return "must be a text; write a list or a number as JSON text."
    return message.replace("Input should", "should") + "."


def parameters_of(function: ToolFunction) -> Parameters:
    """The first parameter is our context, and not the client's."""
    hints = get_type_hints(function)
    description, words = documented(inspect.getdoc(function) or "")
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in list(inspect.signature(function).parameters.values())[1:]
    }
    model = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    schema = plain_schema(model.model_json_schema())
    for name, field in schema["properties"].items():
        if name in words:
            field["description"] = words[name]
    return Parameters(function.__name__, description, schema, model)


def documented(text: str) -> tuple[str, dict[str, str]]:
    """A docstring's description on one line a paragraph, and what its `Args:` say of each parameter."""
    body, _, arguments = text.partition("\nArgs:\n")
    paragraphs = [" ".join(part.split()) for part in body.split("\n\n")]
    words: dict[str, str] = {}
    name = ""
    for line in inspect.cleandoc(arguments).splitlines():
        if not line.startswith(" ") and (found := _PARAMETER.match(line)):
            name = found[1]
            words[name] = found[2]
        elif name:
            words[name] = f"{words[name]} {line.strip()}".strip()
    return "\n".join(part for part in paragraphs if part), words


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Without references and titles, which some clients cannot read."""
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _plain(schema, definitions)
    plain.setdefault("properties", {})
    return plain


def _plain(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].rsplit("/", 1)[-1]]
        return _plain(
            {**target, **{name: value for name, value in node.items() if name != "$ref"}}, definitions
        )
    return {
        name: {key: _plain(value, definitions) for key, value in inner.items()}
        if name == "properties"
        else _plain(inner, definitions)
        for name, inner in node.items()
        if name not in {"title", "description"} or not isinstance(inner, str)
    }


def unpacked(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value behind a JSON text where the schema wants something else than text: some models quote all."""
    kind = schema.get("type", "")
    if isinstance(value, str) and kind in JSON_TYPES:
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            return value
        value = parsed if isinstance(parsed, JSON_TYPES[kind]) else value
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [unpacked(item, schema["items"]) for item in value]
    return value
