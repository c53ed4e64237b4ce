"""Why a run gave no answer, and what to do about it, in words."""

from collections.abc import Sequence

from mas_orchestra.cli.printable import one_line
from mas_orchestra.plan.report import Fault, FaultCode
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.types import OutcomeStatus

__all__ = ["explain", "fault_lines"]

ADVICE = {
    OutcomeStatus.INVALID_PLAN: (
        "Try another orchestrator (--orchestrator URI), another plan format (--format xml), more repair turns "
        "(--repair-turns N), or give a plan of your own (--plan FILE)."
    ),
    OutcomeStatus.STEP_FAILED: (
        "With --on-step-error partial a run goes on without a failed step; --trace FILE keeps what was said."
    ),
    OutcomeStatus.BUDGET_EXCEEDED: (
        "Raise the limit (--max-calls, --max-tokens, --max-cost), or ask for less (--dom low)."
    ),
    OutcomeStatus.TIMED_OUT: "Raise --timeout, or ask for less (--dom low).",
    OutcomeStatus.ENDPOINT_ERROR: "`mas models check URI` tells what is wrong with an endpoint.",
}


def explain(outcome: Outcome) -> str:
    """Status, what happened, the plan's faults where that is the reason, and advice."""
    lines = [f"no answer ({outcome.status})."]
    if outcome.status is OutcomeStatus.INVALID_PLAN and outcome.faults:
        lines += ["The orchestrator's last text is no plan:", fault_lines(outcome.faults)]
    elif outcome.failure:
        lines[0] += f" {outcome.failure.code}: {outcome.failure.message}"
    if any(fault.code is FaultCode.PLAN_TOO_LARGE for fault in outcome.faults):
        lines.append("Raise --max-calls or --max-steps if a plan of that size is what you want.")
    if advice := ADVICE.get(outcome.status):
        lines.append(advice)
    return "\n".join(lines)


def fault_lines(faults: Sequence[Fault], *, most: int = 5) -> str:
    """Faults of a plan one a line, each with its place in the text."""
    lines = [f"  {_place(fault)}{fault.code}: {one_line(fault.message)}" for fault in faults[:most]]
    if len(faults) > most:
        lines.append(f"  and {len(faults) - most} more")
    return "\n".join(lines)


def _place(fault: Fault) -> str:
    return f"line {fault.line}, column {fault.column}: " if fault.line is not None else ""
