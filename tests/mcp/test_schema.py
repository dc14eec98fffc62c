"""What a tool function becomes: a schema that every client can read, and arguments read with patience."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pytest
from typing_extensions import TypedDict

from crewsite.llm.tools import ToolContext, ToolResult
from crewsite.mcp.catalogue import all_tools
from crewsite.mcp.schema import WrongArguments, documented, parameters_of


class Item(TypedDict):
    role: Literal["user", "assistant"]
    content: str


def sample(  # noqa: PLR0917 - the shape under test
    context: ToolContext,
    text: str,
    names: Sequence[str] = (),
    items: Sequence[Item] = (),
    count: int = 3,
    sure: bool = False,
) -> ToolResult:
    """First line
    goes on.

    Second paragraph.

    Args:
        text: What to say,
            on two lines.
        count: How often.
    """
    return ToolResult(text)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@pytest.mark.parametrize("name", ["sample", *all_tools()])
def test_every_schema_is_one_that_all_clients_can_read(name: str) -> None:
    found = parameters_of(sample) if name == "sample" else all_tools()[name].parameters
    schema = found.schema
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    assert "$ref" not in json.dumps(schema)
    assert "$defs" not in json.dumps(schema)
    for node in nodes(schema):
        assert not isinstance(node.get("type"), list)
        assert "anyOf" not in node
        if node.get("type") == "array":
            assert node["items"]
    for field, node in schema["properties"].items():
        if node.get("type") == "array" and field not in schema.get("required", ()):
            assert node["default"] == []


@pytest.mark.parametrize("name", list(all_tools()))
def test_every_tool_says_when_to_use_it_and_when_not_and_what_each_parameter_is(name: str) -> None:
    parameters = all_tools()[name].parameters
    assert 80 < len(parameters.description) < 500
    assert any(word in parameters.description for word in ("Not ", "Do not", "only when", "never"))
    missing = [field for field, node in parameters.schema["properties"].items() if "description" not in node]
    assert not missing


def test_a_docstring_gives_the_description_and_the_words_of_each_parameter() -> None:
    parameters = parameters_of(sample)
    assert parameters.description == "First line goes on.\nSecond paragraph."
    assert parameters.schema["properties"]["text"]["description"] == "What to say, on two lines."
    assert documented("Only this.") == ("Only this.", {})


def test_values_that_arrive_as_json_texts_are_unpacked() -> None:
    read = parameters_of(sample).read(
        {
            "text": "[1]",
            "names": '["a", "b"]',
            "items": ['{"role": "user", "content": "hi"}'],
            "count": "4",
            "sure": "true",
        }
    )
    assert read["text"] == "[1]"
    assert list(read["names"]) == ["a", "b"]
    assert list(read["items"]) == [{"role": "user", "content": "hi"}]
    assert (read["count"], read["sure"]) == (4, True)


def test_a_null_for_an_optional_parameter_means_its_default() -> None:
    read = parameters_of(sample).read({"text": "x", "names": None, "count": None})
    assert (list(read["names"]), read["count"]) == ([], 3)


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({}, "text: is required and missing"),
        ({"text": None}, "text: must be a text"),
        ({"text": ["a"]}, "text: must be a text"),
        ({"text": "x", "names": "a, b"}, 'names: must be a list, such as ["a", "b"]'),
        ({"text": "x", "count": "many"}, "count: should be a valid integer"),
        ({"text": "x", "items": [{"role": "robot", "content": "x"}]}, "items.0.role: should be 'user' or"),
        ({"text": "x", "items": [{"role": "user"}]}, "items.0.content: is required and missing"),
        ({"text": "x", "other": 1}, "Known: text, names, items, count, sure"),
    ],
)
def test_wrong_arguments_are_told_what_to_change(sent: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongArguments) as raised:
        parameters_of(sample).read(sent)
    assert says in str(raised.value)
    assert str(raised.value).startswith("sample was not run")
