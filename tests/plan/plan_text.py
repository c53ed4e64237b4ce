"""Texts of plans for tests, written by hand rather than by our own renderer."""

import json

__all__ = ["agent", "edge", "json_plan", "tool_calls", "xml_plan"]


def agent(name, work="", *, kind="CoTAgent", extra=""):
    return (
        f"<agent><agent_id>{name}</agent_id><agent_name>{kind}</agent_name>"
        f"<agent_description>does {name}</agent_description>"
        f"<required_arguments><agent_input>{work}</agent_input>{extra}</required_arguments></agent>\n"
    )


def edge(*pairs):
    return "<edge>" + "".join(f"<from>{source}</from><to>{target}</to>" for source, target in pairs) + "</edge>\n"


def xml_plan(steps, edges=()):
    """Steps as id → input."""
    blocks = "".join(agent(name, work) for name, work in steps.items())
    return f"<thinking>because</thinking>\n{blocks}{edge(*edges) if edges else ''}"


def json_plan(steps, edges=(), **more):
    listed = [{"id": name, "agent": "CoTAgent", "input": work} for name, work in steps.items()]
    return json.dumps({"thinking": "because", "steps": listed, "edges": [list(pair) for pair in edges], **more})


def tool_calls(*calls):
    """Calls as (tool, arguments)."""
    return json.dumps(
        {
            "content": "because",
            "tool_calls": [
                {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for n, (name, arguments) in enumerate(calls)
            ],
        }
    )
