"""From a plan to text: the three wire formats, which `read` reads back to an equal plan, and two drawings."""

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from mas_orchestra.errors import InvalidPlanError
from mas_orchestra.plan.arguments import to_text
from mas_orchestra.plan.catalog import AgentCard, Catalog, installed_catalog
from mas_orchestra.plan.json_format import ANSWER_TOOL
from mas_orchestra.plan.names import slugs
from mas_orchestra.plan.references import references
from mas_orchestra.plan.schema import Plan, Step
from mas_orchestra.plan.tags import escape
from mas_orchestra.types import ToolCall

__all__ = ["RenderFormat", "render", "text_of_tool_calls"]


class RenderFormat(StrEnum):
    """What a plan can be written as."""

    XML = "xml"
    TOOLS = "tools"
    JSON = "json"
    MERMAID = "mermaid"
    SVG = "svg"


def render(plan: Plan, to: RenderFormat | str, catalog: Catalog | None = None) -> str:
    """`plan` as text.

    Args:
        plan: Any plan; the drawings take invalid ones too.
        to: A wire format, ``mermaid`` or ``svg``.
        catalog: Names tags and tools of the wire formats; all installed sub-agents by default.

    Raises:
        ValueError: `to` is none of these.
        InvalidPlanError: The format cannot say this plan: ``tools`` has no edges but the references.

    >>> print(render(Plan(answer="x < y"), "xml", Catalog()))
    <thinking></thinking>
    <answer>x &lt; y</answer>
    """
    match RenderFormat(to):
        case RenderFormat.MERMAID:
            from mas_orchestra.plan.mermaid import mermaid

            return mermaid(plan)
        case RenderFormat.SVG:
            from mas_orchestra.plan.svg import svg

            return svg(plan)
        case RenderFormat.JSON:
            return _json(plan)
        case RenderFormat.XML:
            return _xml(plan, installed_catalog() if catalog is None else catalog)
        case RenderFormat.TOOLS:
            return _tools(plan, installed_catalog() if catalog is None else catalog)


def text_of_tool_calls(calls: Sequence[ToolCall], content: str = "") -> str:
    """The ``tools`` wire text of one assistant message, for `read`: its calls, and its content as the thinking.

    >>> text_of_tool_calls([ToolCall(id="c1", name="CoTAgent", arguments="{}")], "Easy.")[:70]
    '{"content": "Easy.", "tool_calls": [{"id": "c1", "type": "function", "'
    """
    message = {
        "content": content,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ],
    }
    return json.dumps(message, ensure_ascii=False)


def _json(plan: Plan) -> str:
    steps = [
        {"id": step.id, "agent": step.agent, "description": step.description, "input": step.input, **step.arguments}
        for step in plan.steps
    ]
    content: dict[str, Any] = {"thinking": plan.thinking, "steps": steps, "edges": [list(edge) for edge in plan.edges]}
    if plan.answer is not None:
        content["answer"] = plan.answer
    return json.dumps(content, ensure_ascii=False, indent=2)


def _tools(plan: Plan, catalog: Catalog) -> str:
    flow = {(name, step.id) for step in plan.steps for name in references(step.input)}
    silent = next((edge for edge in plan.edges if edge not in flow), None)
    if silent is not None:
        raise InvalidPlanError(
            f"edge {silent.source!r} -> {silent.target!r} cannot be written in the tools format, whose edges are the "
            f"references: refer to ${{{silent.source}}} in the input of {silent.target!r}, or choose xml or json"
        )
    ids = slugs(f"call_{step.id}" for step in plan.steps)
    calls = [
        ToolCall(
            id=ids[f"call_{step.id}"],
            name=catalog.slugs.get(step.agent, step.agent),
            arguments=_compact({"id": step.id, "description": step.description, "input": step.input, **step.arguments}),
        )
        for step in plan.steps
    ]
    if plan.answer is not None:
        calls.append(ToolCall(id="call_answer", name=ANSWER_TOOL, arguments=_compact({"value": plan.answer})))
    return text_of_tool_calls(calls, plan.thinking)


def _compact(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _xml(plan: Plan, catalog: Catalog) -> str:
    parts = [_tag("thinking", plan.thinking)]
    parts += [_agent(step, catalog.get(step.agent)) for step in plan.steps]
    if plan.edges:
        pairs = [f"  {_tag('from', edge.source)}{_tag('to', edge.target)}" for edge in plan.edges]
        parts.append("\n".join(["<edge>", *pairs, "</edge>"]))
    if plan.answer is not None:
        parts.append(_tag("answer", plan.answer))
    return "\n".join(parts)


def _agent(step: Step, card: AgentCard | None) -> str:
    tags = {argument: tag for tag, argument in card.tags.items()} if card else {}
    arguments = [
        f"    {_tag(tags.get(name, name), to_text(card, name, value))}" for name, value in step.arguments.items()
    ]
    return "\n".join(
        [
            "<agent>",
            f"  {_tag('agent_id', step.id)}",
            f"  {_tag('agent_name', step.agent)}",
            f"  {_tag('agent_description', step.description)}",
            "  <required_arguments>",
            f"    {_tag('agent_input', step.input)}",
            *arguments,
            "  </required_arguments>",
            "</agent>",
        ]
    )


def _tag(name: str, text: str) -> str:
    return f"<{name}>{escape(text)}</{name}>"
