"""Draws a run as coloured lines of text: the plan as a graph by levels, and in each step's line how it is going.

A pure function of the view, the time and the size of the terminal.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from mas_orchestra.cli.figures import count, money, seconds
from mas_orchestra.cli.printable import one_line
from mas_orchestra.cli.view import RunView, StepView
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.types import StepStatus

__all__ = ["draw", "fit"]

MARKS = {
    StepStatus.WAITING: ("·", "dim"),
    StepStatus.RUNNING: ("●", "cyan"),
    StepStatus.ANSWERED: ("✓", "green"),
    StepStatus.FAILED: ("✗", "red"),
    StepStatus.SKIPPED: ("-", "dim"),
    StepStatus.CANCELLED: ("■", "yellow"),
}
WIDE = 72
"""From this many columns on there is room for sub-agent, tokens and cost."""

# What to keep in sight when the terminal is lower than the plan.
URGENCY = (
    StepStatus.RUNNING,
    StepStatus.FAILED,
    StepStatus.CANCELLED,
    StepStatus.ANSWERED,
    StepStatus.SKIPPED,
    StepStatus.WAITING,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """Widths in terminal cells; 0 leaves a column out."""

    label: int
    agent: int = 0
    tokens: int = 0
    cost: int = 0


def draw(view: RunView, *, now_s: float, width: int, height: int | None = None) -> Text:
    """The run as it is `now_s` seconds after its start, no line wider than `width` cells.

    Args:
        view: The run so far.
        now_s: Seconds since the run began.
        width: Columns of the terminal.
        height: Most lines to draw; what matters least is then counted instead of drawn. ``None`` draws all.
    """
    steps = sorted(view.steps.values(), key=lambda step: step.level)
    columns = _columns(steps, width)
    lines = [_failed_attempt(number, report) for number, report in view.attempts.items() if not report.valid]
    if view.planning:
        lines.append(_row(view.planning, "", fit(_plan_label(view), _lead(columns)), columns, now_s))
    kept = steps if height is None else _most_urgent(steps, max(1, height - len(lines) - 1))
    above = 0
    for step in kept:
        level = "" if step.level == above else str(step.level)
        lines.append(_row(step, level, _lead_of(step, columns), columns, now_s))
        above = step.level
    if len(kept) < len(steps):
        lines.append(_the_rest(steps, kept))
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Text("\n", no_wrap=True).join(lines)


def fit(text: str, width: int) -> str:
    """`text` in exactly `width` terminal cells, cut with an ellipsis or filled with blanks.

    >>> fit("计算结果", 6)
    '计算… '
    """
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(set_cell_size(text, max(0, width - 1)).rstrip() + "…", width)


def _columns(steps: Sequence[StepView], width: int) -> _Columns:
    longest = max((cell_len(_label(step)) for step in steps), default=0)
    if width < WIDE:
        return _Columns(label=min(max(longest, 12), max(6, width * 2 // 5)))
    agent = max((cell_len(_agent(step)) for step in steps), default=0)
    return _Columns(label=min(max(longest, 24), width * 3 // 10), agent=min(agent, 12), tokens=8, cost=9)


def _lead(columns: _Columns) -> int:
    """Cells of label and sub-agent together."""
    return columns.label + (1 + columns.agent if columns.agent else 0)


def _lead_of(step: StepView, columns: _Columns) -> str:
    label = fit(_label(step), columns.label)
    return f"{label} {fit(_agent(step), columns.agent)}" if columns.agent else label


def _row(step: StepView, level: str, lead: str, columns: _Columns, now_s: float) -> Text:
    mark, style = MARKS[step.status]
    line = Text(no_wrap=True)
    line.append(f"{level:>2} ", style="dim")
    line.append(f"{mark} ", style=style)
    line.append(lead, style="dim" if step.status is StepStatus.WAITING else "none")
    if step.status is not StepStatus.WAITING:
        line.append(f" {_elapsed(step, now_s):>7}")
        if columns.tokens:
            bound = "≥" if step.usage.estimated else ""
            spent = f"{bound}{step.usage.total_tokens:,} tok" if step.calls else ""
            line.append(f"{spent:>{columns.tokens + 4}}{money(step.cost_usd) if step.calls else '':>{columns.cost}}")
        line.append(f"  {_note(step)}", style=style if step.failure else "dim")
    line.rstrip()
    return line


def _agent(step: StepView) -> str:
    return one_line(step.agent).removesuffix("Agent")


def _label(step: StepView) -> str:
    """The id, and whom the step reads."""
    name = one_line(step.id, limit=80)
    return f"{name} ← {', '.join(one_line(source, limit=20) for source in step.reads)}" if step.reads else name


def _elapsed(step: StepView, now_s: float) -> str:
    if step.started_s is None:
        return ""
    return seconds(max(0.0, (now_s if step.finished_s is None else step.finished_s) - step.started_s))


def _note(step: StepView) -> str:
    """What a step is doing, or why it gave nothing."""
    if step.failure:
        return one_line(f"{step.failure.code}: {step.failure.message}")
    if step.purposes:
        others = f" (+{len(step.purposes) - 1})" if len(step.purposes) > 1 else ""
        return one_line(step.purposes[0], limit=60) + others
    if step.warnings:
        return one_line(", ".join(dict.fromkeys(warning.code for warning in step.warnings)))
    return ""


def _plan_label(view: RunView) -> str:
    report = next(reversed(view.attempts.values()), None)
    if report is None or report.plan is None:
        return "plan"
    if not view.steps:
        return "plan: a direct answer"
    return f"plan: {count(len(view.steps), 'step')}, ≤ {count(report.max_calls, 'call')}"


def _failed_attempt(number: int, report: PlanReport) -> Text:
    fault = report.faults[0] if report.faults else None
    why = one_line(f"{fault.code}: {fault.message}") if fault else "no plan"
    return Text(f"   ✗ text {number} is no plan: {why}", style="red", no_wrap=True)


def _most_urgent(steps: Sequence[StepView], room: int) -> list[StepView]:
    """The `room` steps that matter most right now, in their order."""
    if len(steps) <= room:
        return list(steps)
    by_urgency = sorted(steps, key=lambda step: (URGENCY.index(step.status), -(step.finished_s or 0.0)))
    kept = {step.id for step in by_urgency[:room]}
    return [step for step in steps if step.id in kept]


def _the_rest(steps: Sequence[StepView], kept: Sequence[StepView]) -> Text:
    shown = {step.id for step in kept}
    counts = Counter(step.status for step in steps if step.id not in shown)
    parts = ", ".join(f"{number} {status}" for status, number in counts.items())
    return Text(f"   … and {sum(counts.values())} more: {parts}", style="dim", no_wrap=True)
