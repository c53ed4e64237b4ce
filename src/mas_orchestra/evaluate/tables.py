"""The tables of a report, as text for people and as records for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mas_orchestra.evaluate.axes import AxisTable
from mas_orchestra.evaluate.comparison import Paired
from mas_orchestra.evaluate.figure_style import title
from mas_orchestra.evaluate.scoreboard import Scoreboard, SystemRow
from mas_orchestra.evaluate.wording import (
    NONE,
    dollars,
    percent,
    percent_interval,
    points,
    ratio,
    seconds,
    tokens,
)

__all__ = ["Record", "Table", "axis_tables_of", "comparison_table", "scoreboard_table"]

Record: TypeAlias = Mapping[str, str | int | float | bool | None]
"""One line of a CSV file: ``None`` and NaN are empty cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table twice: as people read it and as programs do.

    Attributes:
        name: Of its CSV file.
        rows: Text; the first column names the row.
        records: The same numbers, unrounded, with more columns.
    """

    name: str
    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str
    records: Sequence[Record]


def scoreboard_table(board: Scoreboard) -> Table:
    """One row a system."""
    counts = {row.entrant.attempts_per_task for row in board.rows}
    k = str(counts.pop()) if len(counts) == 1 else "k"
    return Table(
        name="scoreboard",
        title=title("Scoreboard", is_simulated=board.is_simulated),
        headers=(
            "system", "accuracy [95\N{NO-BREAK SPACE}%]", f"avg@{k}", f"pass@{k}", f"majority@{k}", "scored / errored",
            "cost", "cost an attempt", "tokens", "calls (cached)", "latency p50 / p95", "Pareto front",
        ),
        rows=[_scoreboard_row(row) for row in board.rows],
        note=(
            f"Accuracy is the mean over tasks of the mean over scored attempts. avg@{k}, pass@{k} and majority@{k} are "
            "over the tasks of which all attempts are scored. Errored attempts count neither as right nor as wrong. "
            "The Pareto front is over accuracy and cost an attempt."
        ),
        records=[_scoreboard_record(row) for row in board.rows],
    )  # fmt: skip


def _scoreboard_row(row: SystemRow) -> tuple[str, ...]:
    front = "yes" if row.is_on_front else "no" if row.attempt_cost_usd is not None else "cost unknown"
    return (
        row.entrant.shown,
        percent_interval(row.accuracy),
        percent(row.average_at_k),
        percent(row.pass_at_k),
        percent(row.majority_at_k),
        f"{row.scored:,} / {row.errored:,}",
        dollars(row.cost_usd),
        dollars(row.attempt_cost_usd),
        tokens(row.usage),
        f"{row.calls:,} ({row.cached_calls:,})",
        f"{seconds(row.latency_p50_s)} / {seconds(row.latency_p95_s)}",
        front if row.scored else NONE,
    )


def _scoreboard_record(row: SystemRow) -> Record:
    info = row.entrant.info
    return {
        "system": row.entrant.label,
        "run": row.entrant.run,
        "simulated": info.is_simulated,
        "single_agent": info.is_single_agent,
        "reference": info.is_reference,
        "accuracy": row.accuracy.mean,
        "accuracy_low": row.accuracy.low,
        "accuracy_high": row.accuracy.high,
        "tasks": row.accuracy.tasks,
        "k": row.entrant.attempts_per_task,
        "avg_at_k": row.average_at_k,
        "pass_at_k": row.pass_at_k,
        "majority_at_k": row.majority_at_k,
        "complete_tasks": row.complete_tasks,
        "scored": row.scored,
        "errored": row.errored,
        "missing": row.missing,
        "cost_usd": "unknown" if row.cost_usd is None else row.cost_usd,
        "attempt_cost_usd": "unknown" if row.attempt_cost_usd is None else row.attempt_cost_usd,
        "tokens": row.usage.total_tokens,
        "tokens_estimated": row.usage.estimated,
        "calls": row.calls,
        "cached_calls": row.cached_calls,
        "latency_p50_s": row.latency_p50_s,
        "latency_p95_s": row.latency_p95_s,
        "pareto_front": row.is_on_front,
    }


def comparison_table(board: Scoreboard) -> Table:
    """One row a system other than its reference."""
    margin = f"{100 * board.margin:g}"
    return Table(
        name="comparisons",
        title=title("Systems against the reference", is_simulated=board.is_simulated),
        headers=(
            "system", "reference", "verdict", "difference, points [95\N{NO-BREAK SPACE}%]", "adjusted p", "McNemar p",
            "cost ratio [95\N{NO-BREAK SPACE}%]", "tasks", "could have shown, points", f"tasks for {margin} points",
        ),
        rows=[_comparison_row(one) for one in board.comparisons],
        note=(
            "Differences are paired by task; p is adjusted over all rows (Holm). “Could have shown” is the smallest "
            f"difference found with 80 % power at this number of tasks; the last column is the number for {margin} "
            "points. McNemar's exact test, unadjusted, is for one attempt a task only."
        ),
        records=[_comparison_record(one) for one in board.comparisons],
    )  # fmt: skip


def _comparison_row(one: Paired) -> tuple[str, ...]:
    difference = one.difference
    return (
        one.system.shown,
        one.reference.shown,
        one.conclusion,
        one.gain,
        f"{one.verdict.adjusted_p:.2g}",
        NONE if one.mcnemar_p is None else f"{one.mcnemar_p:.2g}",
        ratio(one.ratio),
        f"{difference.tasks:,}",
        points(one.power.smallest_difference).lstrip("+"),
        NONE if one.power.tasks_needed is None else f"{one.power.tasks_needed:,}",
    )


def _comparison_record(one: Paired) -> dict[str, str | int | float | bool | None]:
    return {
        "system": one.system.label,
        "reference": one.reference.label,
        "simulated": one.system.info.is_simulated or one.reference.info.is_simulated,
        "verdict": one.verdict.kind.value,
        "conclusion": one.conclusion,
        "difference": one.difference.mean,
        "difference_low": one.difference.low,
        "difference_high": one.difference.high,
        "adjusted_p": one.verdict.adjusted_p,
        "mcnemar_p": one.mcnemar_p,
        "cost_ratio": "unknown" if one.ratio is None else one.ratio.mean,
        "cost_ratio_low": None if one.ratio is None else one.ratio.low,
        "cost_ratio_high": None if one.ratio is None else one.ratio.high,
        "tasks": one.difference.tasks,
        "smallest_difference": one.power.smallest_difference,
        "margin": one.margin,
        "tasks_needed": one.power.tasks_needed,
    }


def axis_tables_of(board: Scoreboard) -> list[Table]:
    """Accuracy by value, and the gains where there are any; two tables an axis."""
    accuracies = [_accuracy_table(board, axis) for axis in board.axes]
    gains = [_gain_table(board, axis) for axis in board.axes if axis.gains]
    return [*accuracies, *gains]


def _accuracy_table(board: Scoreboard, axis: AxisTable) -> Table:
    cells = {(point.entrant.label, point.value): percent_interval(point.accuracy) for point in axis.points}
    return Table(
        name="axis_accuracy",
        title=title(f"Accuracy along {axis.axis}", is_simulated=board.is_simulated),
        headers=("system", *(str(value) for value in axis.values)),
        rows=[(row.entrant.shown, *(cells[row.entrant.label, value] for value in axis.values)) for row in board.rows],
        note="Mean over the tasks at each value [95 % interval].",
        records=[
            {
                "axis": axis.axis,
                "value": point.value,
                "system": point.entrant.label,
                "simulated": point.entrant.info.is_simulated,
                "accuracy": point.accuracy.mean,
                "accuracy_low": point.accuracy.low,
                "accuracy_high": point.accuracy.high,
                "tasks": point.accuracy.tasks,
            }
            for point in axis.points
        ],
    )


def _gain_table(board: Scoreboard, axis: AxisTable) -> Table:
    places = {row.entrant.label: place for place, row in enumerate(board.rows)}
    gains = sorted(axis.gains, key=lambda gain: places[gain.paired.system.label])
    return Table(
        name="axis_gain",
        title=title(f"Gain along {axis.axis}", is_simulated=board.is_simulated),
        headers=(
            "system",
            "value",
            "gain, points [95\N{NO-BREAK SPACE}%]",
            "verdict",
            "adjusted p",
            "cost ratio [95\N{NO-BREAK SPACE}%]",
            "tasks",
        ),
        rows=[
            (
                gain.paired.system.shown,
                str(gain.value),
                gain.paired.gain,
                gain.paired.conclusion,
                f"{gain.paired.verdict.adjusted_p:.2g}",
                ratio(gain.paired.ratio),
                f"{gain.paired.difference.tasks:,}",
            )
            for gain in gains
        ],
        note="Multi-agent systems minus their reference; p is adjusted over all values of all axes (Holm).",
        records=[{"axis": axis.axis, "value": gain.value, **_comparison_record(gain.paired)} for gain in gains],
    )
