"""From a model's text to a draft: harmony's channels if there are any, then one `walk` over what is left."""

from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.draft import Draft
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.harmony import Message, is_harmony, messages
from mas_orchestra.plan.json_format import JsonPlans, format_of
from mas_orchestra.plan.jsontext import JsonFault, parse
from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.plan.walk import Scan, Walk, draft_of_json, report_open_reasoning

__all__ = ["Scan", "scan"]


def scan(text: str, format: PlanFormat | None, catalog: Catalog, faults: FaultLog, *, max_steps: int) -> Scan:  # noqa: A002  (the word users know)
    """The draft of a plan in `text`; every fault of the text itself goes to `faults`.

    Args:
        text: What the model wrote.
        format: Only this wire format, or ``None`` for any.
        catalog: Cards of the sub-agents that a plan may name.
        faults: Takes the faults.
        max_steps: Most steps of a plan; a text with many times more is not read to its end.
    """
    if not is_harmony(text):
        return Walk(text, format, catalog, faults, max_steps).run()
    spoken = messages(text)
    calls = [message for message in spoken if message.recipient]
    finals = [message for message in spoken if message.channel == "final" and not message.recipient]
    if calls and format in {None, PlanFormat.TOOLS, PlanFormat.JSON}:
        return _tool_calls(text, calls, catalog, faults, max_steps)
    if finals:
        return Walk(_masked(text, finals[-1]), format, catalog, faults, max_steps).run()
    if spoken and not spoken[-1].closed:
        report_open_reasoning(faults, spoken[-1].start, "the analysis channel")
    return Scan(Draft(), "")


def _masked(text: str, message: Message) -> str:
    """Only one message's body, at its own offsets."""
    return " " * message.start + text[message.start : message.end]


def _tool_calls(text: str, calls: list[Message], catalog: Catalog, faults: FaultLog, max_steps: int) -> Scan:
    """Harmony's commentary calls: one plan object for a single function, or one call a sub-agent."""
    first = calls[0]
    body = text[first.start : first.end]
    if len(calls) == 1 and first.recipient not in catalog and _holds_plan(body):
        return Walk(_masked(text, first), PlanFormat.JSON, catalog, faults, max_steps).run()
    plans = JsonPlans(catalog, faults)
    for call in calls:
        plans.call(call.recipient, text[call.start : call.end], call.start)
    return Scan(draft_of_json(plans, PlanFormat.TOOLS, "", faults), "")


def _holds_plan(body: str) -> bool:
    try:
        return format_of(parse(body).value) is PlanFormat.JSON
    except JsonFault:
        return True
