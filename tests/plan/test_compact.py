"""Whatever the compact schema lets a model write is a valid plan, and what the compact prompt shows fits the schema."""

import json
import re

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from mas_orchestra.plan import AgentCard, Catalog, installed_catalog, read
from mas_orchestra.plan.compact import compact_messages, compact_schema
from mas_orchestra.types import DoM, Role

CATALOG = installed_catalog()


class Nested(BaseModel):
    inner: int


class NestedArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    part: Nested


class FlatArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    words: list[str] = Field(min_length=5)
    motto: str
    level: int = 3


def card(name, arguments):
    return AgentCard(name=name, summary="Does it.", good_at="Everything else", cost="1 call", arguments=arguments)


WORDS = st.text("abz XYZ 019 <>&',;:/|=-é計", min_size=10, max_size=20)


def texts(pattern):
    """Texts of one of our patterns; much quicker to draw than `st.from_regex`."""
    if pattern.startswith("^Using "):
        start = re.search(r"\^(Using .+, )\[a-z\]", pattern)[1].replace("\\", "")
        drawn = WORDS.map(lambda words: f"{start}a{words}.")
    elif pattern.startswith("^(What|"):
        drawn = WORDS.map(lambda words: f"What {words}?")
    else:
        drawn = WORDS.map(lambda words: f"A{words}.")
    return drawn.filter(re.compile(pattern).search)


def instances(schema):
    """Values that a JSON Schema allows, of the few keywords that ours uses."""
    match schema:
        case {"anyOf": options}:
            found = st.one_of([instances(option) for option in options])
        case {"const": value}:
            found = st.just(value)
        case {"enum": values}:
            found = st.sampled_from(values)
        case {"type": "object", "properties": properties}:
            found = st.fixed_dictionaries({name: instances(part) for name, part in properties.items()})
        case {"prefixItems": items}:
            found = st.tuples(*map(instances, items)).map(list)
        case {"type": "array", "items": item, "minItems": least, "maxItems": most}:
            found = st.lists(instances(item), min_size=least, max_size=most)
        case {"pattern": pattern}:
            found = texts(pattern)
        case {"type": "string", "maxLength": most}:
            found = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=most)
    return found


SCHEMAS = {dom: compact_schema(CATALOG, dom) for dom in DoM}
ACCEPTS = {dom: jsonschema.Draft202012Validator(schema).is_valid for dom, schema in SCHEMAS.items()}
PLANS = {dom: instances(schema) for dom, schema in SCHEMAS.items()}


@pytest.mark.parametrize("dom", list(DoM))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_whatever_the_schema_allows_is_strictly_valid(dom, data):
    plan = data.draw(PLANS[dom])
    assert ACCEPTS[dom](plan)

    report = read(json.dumps(plan), dom=dom, mode="strict", catalog=CATALOG)

    assert [fault.code for fault in report.faults] == []
    assert report.sink == report.plan.steps[-1].id


@pytest.mark.parametrize("dom", list(DoM))
def test_every_example_of_the_prompt_fits_the_schema_and_is_valid(dom):
    system, _ = compact_messages("Why?", catalog=CATALOG, dom=dom)
    examples = re.findall(r"^Plan: (.+)$", system.content, re.MULTILINE)

    assert len(examples) == 3
    for example in examples:
        assert ACCEPTS[dom](json.loads(example))
        assert read(example, dom=dom, mode="strict", catalog=CATALOG).valid


@pytest.mark.parametrize("dom", list(DoM))
def test_the_schema_is_one(dom):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[dom])


@pytest.mark.parametrize("dom", list(DoM))
def test_all_but_the_question_stays_the_same_so_that_a_prompt_cache_holds_it(dom):
    one, other = (compact_messages(text, catalog=CATALOG, dom=dom) for text in ("Why {{ x }} ${s1}?", "How?"))

    assert one[0] == other[0]
    assert [message.role for message in one] == [Role.SYSTEM, Role.USER]
    assert one[1].content == "Question: Why {{ x }} ${s1}?\nPlan:"


def test_the_prompt_is_short():
    assert sum(len(message.content) for message in compact_messages("", catalog=CATALOG, dom=DoM.HIGH)) < 1_800


def test_shapes_are_more_than_chains():
    edges = [option["properties"]["edges"]["const"] for option in SCHEMAS[DoM.HIGH]["anyOf"]]

    assert [["s1", "s3"], ["s2", "s3"]] in edges
    assert all(edges)


def test_examples_name_only_sub_agents_that_there_are():
    catalog = Catalog(tuple(card for card in CATALOG if card.name in {"CoTAgent", "ReflexionAgent"}))

    system, _ = compact_messages("Why?", catalog=catalog, dom=DoM.HIGH)

    assert "SCAgent" not in system.content
    assert "DebateAgent" not in system.content
    assert system.content.count("Plan:") == 1


def test_a_sub_agent_of_others_is_described_and_its_arguments_are_bounded():
    catalog = Catalog((*CATALOG, card("OtherAgent", FlatArguments)))

    system, _ = compact_messages("Why?", catalog=catalog, dom=DoM.LOW)
    (plan,) = compact_schema(catalog, DoM.LOW)["anyOf"]
    forms = plan["properties"]["steps"]["prefixItems"][0]["anyOf"]
    form = next(form["properties"] for form in forms if form["properties"]["agent"] == {"const": "OtherAgent"})

    assert "OtherAgent Everything else." in system.content
    assert form["words"]["minItems"] == form["words"]["maxItems"] == 5
    assert form["words"]["items"]["maxLength"] == form["motto"]["maxLength"] == 40
    assert "level" not in form


def test_nested_arguments_are_beyond_such_a_model():
    catalog = Catalog((*CATALOG, card("DeepAgent", NestedArguments)))

    assert "DeepAgent" not in json.dumps(compact_schema(catalog, DoM.HIGH))
    assert "DeepAgent" not in compact_messages("Why?", catalog=catalog, dom=DoM.HIGH)[0].content
