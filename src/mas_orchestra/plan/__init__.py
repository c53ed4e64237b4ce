"""The plan language: data that says which sub-agents work, on what, and how their outputs flow.

Read in this order:

1. `schema`: what a plan is; `report`: what reading one finds; `catalog`: what is known of sub-agents.
2. `read`: the two entry points. `scan` makes a draft of a text (with `walk`, `tags`, `xml_format`, `jsontext`,
   `json_format` and `harmony`), `check` makes a report of a draft (with `check_steps`, `check_flow`, `check_graph`).
3. `render`: back to text, with `mermaid` and `svg` for drawings.
4. `json_schema` and `prompt`: what a model is told of the language.

>>> from mas_orchestra import plan
>>> report = plan.read("<thinking>Easy.</thinking><answer>4</answer>", dom="low", catalog=plan.Catalog())
>>> report.valid, report.plan.answer
(True, '4')
"""

from mas_orchestra.plan.arguments import arguments_of
from mas_orchestra.plan.catalog import AgentCard, Catalog, installed_catalog
from mas_orchestra.plan.json_schema import json_schema, tools
from mas_orchestra.plan.names import slugs
from mas_orchestra.plan.prompt import messages as prompt_messages
from mas_orchestra.plan.prompt import prompt_hash
from mas_orchestra.plan.read import check, read
from mas_orchestra.plan.references import references, substitute
from mas_orchestra.plan.render import RenderFormat, render, text_of_tool_calls
from mas_orchestra.plan.report import (
    Fault,
    FaultCode,
    Mode,
    OnNoPlan,
    PlanFormat,
    PlanReport,
    Severity,
    fault_json,
    report_json,
)
from mas_orchestra.plan.schema import Edge, Plan, Step

__all__ = [
    "AgentCard",
    "Catalog",
    "Edge",
    "Fault",
    "FaultCode",
    "Mode",
    "OnNoPlan",
    "Plan",
    "PlanFormat",
    "PlanReport",
    "RenderFormat",
    "Severity",
    "Step",
    "arguments_of",
    "check",
    "fault_json",
    "installed_catalog",
    "json_schema",
    "prompt_hash",
    "prompt_messages",
    "read",
    "references",
    "render",
    "report_json",
    "slugs",
    "substitute",
    "text_of_tool_calls",
    "tools",
]
