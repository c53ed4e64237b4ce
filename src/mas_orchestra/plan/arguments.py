"""A step's own arguments: from the text of a tag to JSON values, and checked against the sub-agent's card."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from mas_orchestra.errors import InvalidPlanError
from mas_orchestra.plan.catalog import AgentCard, Catalog
from mas_orchestra.plan.jsontext import JsonFault, parse, plain
from mas_orchestra.plan.schema import Step

__all__ = [
    "argument_schema",
    "arguments_of",
    "from_text",
    "is_list_argument",
    "problem_with",
    "split_commas",
    "to_text",
]

_TYPE_NAMES = {bool: "boolean", str: "string", int: "integer", float: "number"}


def arguments_of(step: Step, catalog: Catalog) -> BaseModel:
    """The checked arguments of a step, as its sub-agent takes them.

    Raises:
        UnknownNameError: No such sub-agent.
        InvalidPlanError: The arguments are not what its card asks for.
    """
    card = catalog[step.agent]
    try:
        return _checked(card, step.arguments)
    except ValidationError as error:
        raise InvalidPlanError(f"step {step.id!r}: {_in_words(card, error)}") from None


def problem_with(card: AgentCard, arguments: Mapping[str, Any]) -> tuple[BaseModel | None, str]:
    """The checked arguments and an empty text, or ``None`` and what is wrong with them."""
    try:
        return _checked(card, arguments), ""
    except ValidationError as error:
        return None, _in_words(card, error)
    except (TypeError, ValueError, RecursionError) as error:
        return None, f"arguments must be JSON values: {error}."


def from_text(card: AgentCard, name: str, text: str) -> Any:  # noqa: ANN401  (a JSON value)
    """The JSON value that the text of an xml tag stands for, by the argument's type.

    Text for a string; JSON for anything else, where a Python list of strings is as good. What cannot be read stays
    text, for the check to refuse.
    """
    types = _types(card.arguments).get(name, frozenset({"string"}))
    if types == {"string"}:
        return text
    try:
        read = parse(text)
    except JsonFault:
        return text
    if text[read.end :].strip() or not (_type_names(read.value) & types):
        return text
    return plain(read.value)


def to_text(card: AgentCard | None, name: str, value: Any) -> str:  # noqa: ANN401  (a JSON value)
    """The text from which `from_text` reads `value` again."""
    types = _types(card.arguments).get(name, frozenset()) if card else frozenset()
    if types == {"string"} and isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def is_list_argument(card: AgentCard, name: str) -> bool:
    """Whether an argument takes a list."""
    return "array" in _types(card.arguments).get(name, frozenset())


def split_commas(text: str) -> list[str]:
    """The parts of a comma list without blanks and quotes around them.

    >>> split_commas(' Professor, "Student" ,')
    ['Professor', 'Student']
    """
    parts = (part.strip() for part in text.split(","))
    bare = (
        part[1:-1].strip() if len(part) > 1 and part[0] == part[-1] and part[0] in "\"'" else part for part in parts
    )
    return [part for part in bare if part]


def _checked(card: AgentCard, arguments: Mapping[str, Any]) -> BaseModel:
    """By the rules of JSON: a string is no number, and an enum is given by its value."""
    if not arguments:
        return card.arguments()
    return card.arguments.model_validate_json(json.dumps(arguments), strict=True)


def _in_words(card: AgentCard, error: ValidationError) -> str:
    accepted = ", ".join(card.arguments.model_fields) or "none beyond the input"
    problems = "; ".join(
        f"argument {'.'.join(str(part) for part in item['loc']) or '(all)'}: {item['msg'][:200]}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)[:5]
    )
    return f"{problems}. {card.name} takes these arguments: {accepted}."


@cache
def argument_schema(arguments: type[BaseModel]) -> Mapping[str, Any]:
    """JSON Schema of all arguments together, ``properties`` at the top."""
    schema = arguments.model_json_schema()
    if "$ref" in schema:  # pydantic's way to write a model that contains itself
        schema = {**schema["$defs"][schema["$ref"].rsplit("/", 1)[-1]], "$defs": schema["$defs"]}
    return schema


@cache
def _types(arguments: type[BaseModel]) -> dict[str, frozenset[str]]:
    """JSON types that each argument accepts."""
    schema = argument_schema(arguments)
    definitions = schema.get("$defs", {})
    return {name: frozenset(_accepted(part, definitions)) for name, part in schema.get("properties", {}).items()}


def _accepted(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    if "$ref" in schema:
        return _accepted(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions)
    if "anyOf" in schema:
        return set().union(*(_accepted(option, definitions) for option in schema["anyOf"]))
    if "type" in schema:
        return {schema["type"]} | ({"integer"} if schema["type"] == "number" else set())
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is None:
        return {"string", "number", "integer", "boolean", "array", "object", "null"}
    return set().union(*(_type_names(value) for value in values))


def _type_names(value: Any) -> set[str]:  # noqa: ANN401  (a JSON value)
    if value is None:
        return {"null"}
    return (
        {_TYPE_NAMES[type(value)]} if type(value) in _TYPE_NAMES else {"array" if isinstance(value, list) else "object"}
    )
