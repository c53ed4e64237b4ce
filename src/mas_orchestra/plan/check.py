"""Checks a draft against the rules of the plan language, and in lenient mode makes the listed repairs.

The order matters: names and ids first, since edges and references are about them; then data flow, then the graph.
"""

from mas_orchestra.plan.check_flow import check_edges, check_references
from mas_orchestra.plan.check_graph import check_graph
from mas_orchestra.plan.check_state import CheckState, Rules
from mas_orchestra.plan.check_steps import check_steps
from mas_orchestra.plan.draft import FAR_TOO_MANY, Draft
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.report import FaultCode, PlanReport
from mas_orchestra.types import DoM

__all__ = ["judge"]


def judge(draft: Draft, faults: FaultLog, rules: Rules) -> PlanReport:
    """The report on a draft; repairs change the draft."""
    state = CheckState(draft, faults, rules)
    if len(draft.steps) <= FAR_TOO_MANY * rules.max_steps:
        _check_rules(state)
    _check_size(state)
    found = draft.plan()
    valid = not faults.has_errors
    return PlanReport(
        plan=found if valid else None,
        faults=faults.errors(),
        warnings=faults.warnings(),
        format=draft.format,
        mode=faults.mode,
        dom=rules.dom,
        sink=state.sink if valid else None,
        width=state.width if valid else 0,
        length=state.length if valid else 0,
        max_calls=state.max_calls if valid else 0,
        found=found,
    )


def _check_rules(state: CheckState) -> None:
    _check_dom(state)
    check_steps(state)
    check_edges(state)
    check_references(state)
    check_graph(state)


def _check_dom(state: CheckState) -> None:
    draft, faults, dom = state.draft, state.faults, state.rules.dom
    if draft.answer is not None and draft.steps:
        message = "both steps and a direct answer; give one or the other."
        faults.error(FaultCode.DOM_VIOLATION, message, at=draft.answer_at)
    elif draft.answer is not None and dom is DoM.HIGH:
        message = "a direct answer, but degree of MAS `high` wants one or more steps; delegate the question to a step."
        faults.error(FaultCode.DOM_VIOLATION, message, at=draft.answer_at)
    if dom is DoM.LOW and len(draft.steps) > 1:
        message = f"{len(draft.steps)} steps, but degree of MAS `low` allows a direct answer or exactly one; keep one."
        faults.error(FaultCode.DOM_VIOLATION, message, at=draft.steps[1].at)
    if dom is DoM.LOW and draft.edges:
        message = "an edge, but degree of MAS `low` has no edges; remove it."
        faults.error(FaultCode.DOM_VIOLATION, message, at=draft.edges[0].at)


def _check_size(state: CheckState) -> None:
    steps, rules = state.draft.steps, state.rules
    if len(steps) > rules.max_steps:
        more = " or more" if len(steps) > FAR_TOO_MANY * rules.max_steps else ""
        message = (
            f"{len(steps)}{more} steps, at most {rules.max_steps} are accepted; "
            "merge steps or raise max_steps (--max-steps)."
        )
        state.faults.error(FaultCode.PLAN_TOO_LARGE, message, at=steps[rules.max_steps].at)
    if rules.max_calls is not None and state.max_calls > rules.max_calls:
        message = (
            f"up to {state.max_calls} LLM calls, at most {rules.max_calls} are accepted; "
            "choose cheaper sub-agents or fewer steps, or raise max_calls."
        )
        state.faults.error(FaultCode.PLAN_TOO_LARGE, message)
