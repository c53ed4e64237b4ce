"""Why a run gave no answer, and what to do about it, in words."""

from mas_orchestra.run.outcome import Outcome
from mas_orchestra.types import OutcomeStatus

__all__ = ["explain"]

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
    failure = outcome.failure
    why = f" {failure.code}: {failure.message}" if failure else ""
    lines = [f"no answer ({outcome.status}).{why}"]
    if outcome.status is OutcomeStatus.INVALID_PLAN:
        lines += [f"  {_place(fault.line, fault.column)}{fault.code}: {fault.message}" for fault in outcome.faults[:5]]
        if len(outcome.faults) > 5:
            lines.append(f"  and {len(outcome.faults) - 5} more")
    if advice := ADVICE.get(outcome.status):
        lines.append(advice)
    return "\n".join(lines)


def _place(line: int | None, column: int | None) -> str:
    return f"line {line}, column {column}: " if line is not None else ""
