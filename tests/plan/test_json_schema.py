"""What endpoints are told: a strict JSON Schema and tools that agree with the reader."""

import json
from typing import Literal

import jsonschema
import pytest
from hypothesis import given, settings
from pydantic import BaseModel, Field

from mas_orchestra.errors import ConfigError
from mas_orchestra.plan import AgentCard, Catalog, Plan, Step, installed_catalog, json_schema, read, render, tools
from plan.test_catalog import RICH
from strategies import plans
from support.cards import CARDS


def objects(schema):
    """Every part of a schema that describes an object."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("dom", ["low", "high"])
@pytest.mark.parametrize("catalog", [CARDS, RICH, CARDS.with_models({"m": "cheap"})])
def test_it_is_strict(catalog, dom):
    schemas = [json_schema(catalog, dom), *(dict(tool.parameters) for tool in tools(catalog, dom))]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)
        text = json.dumps(schema)
        assert not any(word in text for word in ('"$ref"', '"$defs"', '"default"', '"title"', '"const"'))
        for part in objects(schema):
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        for part in arrays(schema):
            assert "maxItems" in part


STRICT_KEYWORDS = {
    "string": {"pattern", "format", "enum"},
    "integer": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"},
    "number": {"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"},
    "boolean": {"enum"},
    "null": set(),
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}
"""What OpenAI documents for strict structured output, by type ("Supported schemas")."""


def strict_depth(schema):
    """Levels of nesting; asserts on the way that no keyword is beyond the documented ones."""
    if "anyOf" in schema:
        assert set(schema) <= {"anyOf", "description"}
        return max(strict_depth(option) for option in schema["anyOf"])
    assert set(schema) <= STRICT_KEYWORDS[schema["type"]] | {"type", "description"}
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return 1 + max(map(strict_depth, inner), default=0)


class Bounded(BaseModel):
    """Bounds of every kind, which pydantic writes as keywords of every kind."""

    code: str = Field(min_length=2, max_length=9, pattern="^[a-z]+$")
    share: float = Field(gt=0, le=1)
    tags: set[str] = Field(min_length=1)
    even: int = Field(multiple_of=2)
    kind: Literal["only"] = "only"


BOUNDED = Catalog((AgentCard(name="X", summary="s", good_at="g", cost="c", arguments=Bounded),))


@pytest.mark.parametrize("dom", ["low", "high"])
@pytest.mark.parametrize(
    "catalog",
    [CARDS, RICH, BOUNDED, installed_catalog(), installed_catalog().with_models({"m": "cheap", "l": "dear"})],
    ids=["cards", "rich", "bounded", "installed", "menu"],
)
def test_it_keeps_to_what_strict_output_documents(catalog, dom):
    for schema in [json_schema(catalog, dom), *(tool.parameters for tool in tools(catalog, dom))]:
        assert schema["type"] == "object", "the root may be no choice"
        assert strict_depth(schema) <= 10
        assert sum(len(part["properties"]) for part in objects(schema)) <= 5_000
        assert len(json.dumps(schema)) <= 120_000


def arrays(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "array":
            yield schema
        for part in schema.values():
            yield from arrays(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from arrays(part)


def test_thinking_comes_first_and_names_are_an_enum():
    schema = json_schema(CARDS, "high")

    assert list(schema["properties"]) == ["thinking", "steps", "edges"]
    plain, debate = schema["properties"]["steps"]["items"]["anyOf"]
    assert plain["properties"]["agent"]["enum"] == ["CoTAgent", "SCAgent", "ReflexionAgent", "WebSearchAgent"]
    assert debate["properties"]["agent"]["enum"] == ["DebateAgent"]
    assert debate["properties"]["roles"]["minItems"] == 2
    assert list(json_schema(CARDS, "low")["properties"]) == ["thinking", "steps", "answer"]


@given(plan=plans())
@settings(max_examples=50)
def test_every_valid_plan_follows_it(plan):
    written = json.loads(render(plan, "json", CARDS))

    jsonschema.validate(written, json_schema(CARDS, "high"))
    calls = json.loads(render(plan, "tools", CARDS))["tool_calls"]
    specs = {tool.name: tool.parameters for tool in tools(CARDS, "high")}
    for call in calls:
        jsonschema.validate(json.loads(call["function"]["arguments"]), dict(specs[call["function"]["name"]]))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": []},
        {"edges": [["a"]]},
        {"extra": 1},
        {"steps": [{"id": "a", "agent": "Nobody", "description": "", "input": ""}]},
        {"steps": [{"id": "a", "agent": "CoTAgent", "description": "", "input": "", "roles": ["x", "y"]}]},
        {"steps": [{"id": "a", "agent": "DebateAgent", "description": "", "input": "", "roles": ["x"]}]},
    ],
)
def test_it_refuses_what_the_reader_refuses(change):
    good = {
        "thinking": "",
        "steps": [{"id": "a", "agent": "CoTAgent", "description": "", "input": ""}],
        "edges": [],
    }
    jsonschema.validate(good, json_schema(CARDS, "high"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good | change, json_schema(CARDS, "high"))


def test_what_strict_output_writes_can_be_read():
    menu = CARDS.with_models({"m": "cheap"})
    step = {"id": "a", "agent": "CoTAgent", "description": "", "input": "", "model": None}
    written = {"thinking": "", "steps": [step], "answer": None}

    jsonschema.validate(written, json_schema(menu, "low"))
    assert read(json.dumps(written), dom="low", catalog=menu).plan == Plan(steps=(Step(id="a", agent="CoTAgent"),))


def test_low_offers_a_tool_for_the_answer():
    assert [tool.name for tool in tools(CARDS, "high")] == list(CARDS.names)
    assert [tool.name for tool in tools(CARDS, "low")] == [*CARDS.names, "answer"]
    assert "5 calls" in tools(CARDS, "high")[1].description


def test_the_list_of_steps_is_as_long_as_asked_for():
    schema = json_schema(CARDS, "high", max_steps=3)

    assert schema["properties"]["steps"]["maxItems"] == 3
    assert schema["properties"]["edges"]["maxItems"] == 12


class Endless(BaseModel):
    inner: "Endless | None" = None


def test_arguments_that_contain_themselves_are_refused():
    catalog = Catalog((AgentCard(name="X", summary="s", good_at="g", cost="c", arguments=Endless),))

    with pytest.raises(ConfigError, match="contain themselves"):
        json_schema(catalog, "high")
