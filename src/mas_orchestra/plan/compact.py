"""Plans from very small models: a short prompt, and a JSON schema that lets nothing invalid be written.

A model of 100 to 500 million parameters reads a prompt slowly and cannot keep the rules of the plan language in mind:
it repeats ids, refers to steps that do not exist, and runs on until it is cut off. So the schema holds the rules
instead. It is a choice among a few *shapes* (which step reads which), each with fixed ids, fixed references and fixed
edges, and bounded sentences in between. What is left to the model is what only it can say: the shape, the sub-agents
and the sub-tasks. Needs an endpoint that enforces ``pattern`` and ``prefixItems``, as llama.cpp does. English only.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from mas_orchestra.plan.catalog import AgentCard, Catalog
from mas_orchestra.plan.prompt import messages
from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.types import DoM, JsonObject, Message

__all__ = ["compact_messages", "compact_schema"]

TEMPLATE = Path(__file__).parent / "templates" / "compact.jinja"

Shape: TypeAlias = tuple[tuple[int, ...], ...]
"""For each step, the earlier steps that it reads, counted from 1."""
Schema: TypeAlias = dict[str, Any]

SHAPES: Mapping[DoM, tuple[Shape, ...]] = {
    DoM.LOW: (((),),),
    DoM.HIGH: (((), (1,)), ((), (), (1, 2)), ((), (1,), (2,)), ((), (1,), (1,), (2, 3))),
}

WORDS = r'[^"\\\n$.?!{}]'
THINKING = rf"^[A-Z]{WORDS}{{10,90}}\.$"
# A sub-task has to begin like one: left free, the model writes its guess of the answer in its place.
BEGINNINGS = "What|Who|Where|When|Which|Why|How|Find|Name|List|Add|Explain|Compare|Describe|Give"
FIRST_TASK = rf"^({BEGINNINGS}) {WORDS}{{5,70}}[.?]$"
NEXT_TASK = rf"^Using %s, [a-z]{WORDS}{{5,70}}\.$"
LONGEST_TEXT, LONGEST_LIST = 40, 3
"""Bounds where a sub-agent's own arguments have none, or wider ones."""


def compact_messages(question: str, *, catalog: Catalog, dom: DoM) -> tuple[Message, ...]:
    """What a very small model is asked; about 500 tokens, all but the question the same for every question."""
    return messages(question, dom=dom, catalog=_usable(catalog), format=PlanFormat.JSON, template=TEMPLATE)


def compact_schema(catalog: Catalog, dom: DoM) -> JsonObject:
    """JSON Schema of plans in the ``json`` format, every one of which is valid in strict mode."""
    cards = tuple(_usable(catalog))
    return {"anyOf": [_plan(shape, cards) for shape in SHAPES[dom]]}


def _usable(catalog: Catalog) -> Catalog:
    """Sub-agents whose arguments are flat; nested ones are beyond a model of this size."""
    flat = tuple(card for card in catalog if "$defs" not in card.arguments.model_json_schema())
    return catalog if len(flat) == len(catalog) else Catalog(flat)


def _plan(shape: Shape, cards: tuple[AgentCard, ...]) -> Schema:
    edges = [[f"s{source}", f"s{target}"] for target, sources in enumerate(shape, start=1) for source in sources]
    steps = [_step(f"s{number}", _task(sources, len(shape)), cards) for number, sources in enumerate(shape, start=1)]
    return _object(
        {
            "thinking": {"type": "string", "pattern": THINKING},
            "steps": {"type": "array", "prefixItems": steps, "minItems": len(steps), "maxItems": len(steps)},
            "edges": {"const": sorted(edges)},
        }
    )


def _task(sources: tuple[int, ...], steps: int) -> Schema:
    if steps == 1:
        return {"const": ""}  # the question itself
    references = " and ".join(rf"\$\{{s{source}\}}" for source in sources)
    return {"type": "string", "pattern": NEXT_TASK % references if sources else FIRST_TASK}


def _step(identity: str, task: Schema, cards: tuple[AgentCard, ...]) -> Schema:
    """A step by any sub-agent: those without arguments of their own first, then each of the others in its own form."""
    arguments = {card.name: _required(card) for card in cards}
    plain = [name for name, own in arguments.items() if not own]
    forms: list[tuple[Schema, dict[str, Schema]]] = [({"enum": plain}, {})] if plain else []
    forms += [({"const": name}, own) for name, own in arguments.items() if own]
    return {
        "anyOf": [_object({"id": {"const": identity}, "agent": agent, **own, "input": task}) for agent, own in forms]
    }


def _required(card: AgentCard) -> dict[str, Schema]:
    """Schemas of the arguments that cannot be left out."""
    schema = card.arguments.model_json_schema()
    return {name: _bounded(schema["properties"][name]) for name in schema.get("required", ())}


def _bounded(schema: Mapping[str, Any]) -> Schema:
    bounded = dict(schema)
    if bounded.get("type") == "string":
        bounded["maxLength"] = min(LONGEST_TEXT, bounded.get("maxLength", LONGEST_TEXT))
    if bounded.get("type") == "array":
        longest = max(LONGEST_LIST, bounded.get("minItems", 0))
        bounded["maxItems"] = min(longest, bounded.get("maxItems", longest))
        bounded["items"] = _bounded(bounded.get("items", {"type": "string"}))
    return bounded


def _object(properties: Mapping[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
