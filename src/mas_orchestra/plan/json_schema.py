"""What an endpoint is told of the plan language: a JSON Schema for the ``json`` format, tools for the ``tools`` format.

Both are made from the catalog. They keep to what strict structured output accepts everywhere: no ``$ref``, no keyword
beyond the documented ones, every property required (an optional one may be null), nothing additional, lists bounded.
``thinking`` comes first, so that a model thinks before it decides.
"""

from collections.abc import Mapping
from typing import Any, cast

from mas_orchestra.errors import ConfigError
from mas_orchestra.plan.arguments import argument_schema
from mas_orchestra.plan.catalog import AgentCard, Catalog
from mas_orchestra.plan.json_format import ANSWER_TOOL
from mas_orchestra.types import DoM, JsonValue, ToolSpec

__all__ = ["DEFAULT_SCHEMA_STEPS", "json_schema", "tools"]

DEFAULT_SCHEMA_STEPS = 16
"""Most steps that the schema lets a model write; every plan that was published is shorter."""
_KEPT = frozenset(
    {
        *("type", "description", "enum", "const", "properties", "items", "anyOf", "oneOf", "allOf"),
        *("pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minItems", "maxItems"),
    }
)
"""Keywords that OpenAI documents for strict structured output, and those that become one of them here. Others, as
``minLength``, would have the whole request refused; what they ask for is checked when the plan is read."""
_MAX_ITEMS = 16
_MAX_NESTING = 16


def json_schema(catalog: Catalog, dom: DoM | str, *, max_steps: int = DEFAULT_SCHEMA_STEPS) -> dict[str, JsonValue]:
    """JSON Schema of one plan in the ``json`` format.

    Args:
        catalog: Sub-agents that may be named.
        dom: Under ``low`` one step at most, or an answer; under ``high`` steps and edges.
        max_steps: Bound of the list of steps, and four times of the list of edges.
    """
    is_low = DoM(dom) is DoM.LOW
    steps: dict[str, JsonValue] = {
        "type": "array",
        "items": _any_of([_step(cards) for cards in _alike(catalog)]),
        "minItems": 0 if is_low else 1,
        "maxItems": 1 if is_low else max_steps,
    }
    properties: dict[str, JsonValue] = {"thinking": _string("Why this plan."), "steps": steps}
    if is_low:
        properties["answer"] = {
            "anyOf": [{"type": "string"}, {"type": "null"}],
            "description": "A direct answer when there is no step, else null.",
        }
    else:
        properties["edges"] = {
            "type": "array",
            "description": "[source, target]: the target refers to ${source} in its input.",
            "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            "maxItems": 4 * max_steps,
        }
    return _object(properties)


def tools(catalog: Catalog, dom: DoM | str) -> tuple[ToolSpec, ...]:
    """Every sub-agent as a tool; under ``low`` also ``answer(value)``."""
    specs = [
        ToolSpec(
            name=catalog.slugs[card.name],
            description=f"{card.summary} {card.good_at} Costs {card.cost}.",
            parameters=_object({"id": _ID, "description": _DESCRIPTION, "input": _INPUT, **_arguments(card)}),
        )
        for card in catalog
    ]
    if DoM(dom) is DoM.LOW:
        value = _string("The answer to the question.")
        specs.append(
            ToolSpec(
                name=ANSWER_TOOL,
                description="Answers the question directly, without a sub-agent.",
                parameters=_object({"value": value}),
            )
        )
    return tuple(specs)


def _string(description: str) -> dict[str, JsonValue]:
    return {"type": "string", "description": description}


_ID = _string("A short id that no other step has.")
_DESCRIPTION = _string("What this step is for.")
_INPUT = _string(
    "The sub-task; ${id} stands for the answer of step id. Empty means the question itself, word for word."
)


def _object(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _alike(catalog: Catalog) -> list[list[AgentCard]]:
    """Cards grouped by equal arguments, so that the schema has one kind of step for all that take none."""
    groups: list[tuple[dict[str, JsonValue], list[AgentCard]]] = []
    for card in catalog:
        arguments = _arguments(card)
        members = next((members for known, members in groups if known == arguments), None)
        if members is None:
            groups.append((arguments, [card]))
        else:
            members.append(card)
    return [members for _, members in groups]


def _step(cards: list[AgentCard]) -> dict[str, JsonValue]:
    names: list[JsonValue] = [card.name for card in cards]
    agent: dict[str, JsonValue] = {"type": "string", "enum": names}
    return _object({"id": _ID, "agent": agent, "description": _DESCRIPTION, "input": _INPUT, **_arguments(cards[0])})


def _any_of(options: list[dict[str, JsonValue]]) -> JsonValue:
    return options[0] if len(options) == 1 else {"anyOf": cast("list[JsonValue]", options)}


def _arguments(card: AgentCard) -> dict[str, JsonValue]:
    schema = argument_schema(card.arguments)
    required = schema.get("required", ())
    definitions = schema.get("$defs", {})
    return {
        name: _strict(part, definitions, optional=name not in required)
        for name, part in schema.get("properties", {}).items()
    }


def _strict(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], *, optional: bool = False, depth: int = 0
) -> dict[str, JsonValue]:
    """A part of a pydantic schema as strict structured output takes it."""
    if depth > _MAX_NESTING:
        raise ConfigError(
            "arguments of a sub-agent that contain themselves cannot be described to a model; flatten them"
        )
    if "$ref" in schema:
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**definitions[schema["$ref"].rsplit("/", 1)[-1]], **rest}
    strict: dict[str, JsonValue] = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in strict:
        strict["enum"] = [strict.pop("const")]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            strict.pop(key)
            strict["anyOf"] = [_strict(option, definitions, depth=depth + 1) for option in schema[key]]
    if "items" in schema:
        strict["items"] = _strict(schema["items"], definitions, depth=depth + 1)
    if schema.get("type") == "array":
        strict["maxItems"] = min(cast("int", strict.get("maxItems", _MAX_ITEMS)), _MAX_ITEMS)
    if "properties" in schema:
        needed = schema.get("required", ())
        strict |= _object(
            {
                name: _strict(part, definitions, optional=name not in needed, depth=depth + 1)
                for name, part in schema["properties"].items()
            }
        )
    return _or_null(strict) if optional else strict


def _or_null(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    options = schema.get("anyOf")
    if not isinstance(options, list):
        description = {"description": schema.pop("description")} if "description" in schema else {}
        return {"anyOf": [schema, {"type": "null"}], **description}
    if {"type": "null"} not in options:
        options.append({"type": "null"})
    return schema
