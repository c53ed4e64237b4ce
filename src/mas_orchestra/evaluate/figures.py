"""The figures of a report; accuracy against cost, accuracy and gain along an axis are drawn here."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from mas_orchestra.evaluate.axes import AxisTable
from mas_orchestra.evaluate.comparison import Paired
from mas_orchestra.evaluate.diagnostics import Diagnosis
from mas_orchestra.evaluate.figure_style import (
    GREY,
    INK,
    LONGEST_AXIS,
    LONGEST_VALUE,
    Drawing,
    Look,
    drawable,
    looks,
    style,
    title,
)
from mas_orchestra.evaluate.plan_figure import plan_shapes
from mas_orchestra.evaluate.scoreboard import Scoreboard, SystemRow
from mas_orchestra.evaluate.verdict import VerdictKind
from mas_orchestra.evaluate.verdict_map import verdict_map
from mas_orchestra.evaluate.wording import dollars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figures"]

_PANELS_A_ROW = 3
_WIDTH_IN = 9.6
_LONGEST_IN_TWO_COLUMNS = 60
_LEGEND_LINE_IN = 0.2


def draw_figures(board: Scoreboard, diagnoses: Sequence[Diagnosis]) -> tuple[Drawing, ...]:
    """Every figure for which there are numbers, in the order of the report."""
    kinds = looks([row.entrant for row in board.rows])
    with style():
        drawn = (
            _accuracy_cost(board, kinds),
            _axis_accuracy(board, kinds),
            _axis_gain(board, kinds),
            verdict_map(board, kinds),
            plan_shapes(diagnoses, is_simulated=board.is_simulated),
        )
    return tuple(drawing for drawing in drawn if drawing is not None)


def _accuracy_cost(board: Scoreboard, kinds: Mapping[str, Look]) -> Drawing | None:
    rows = [row for row in board.rows if row.scored]
    if not rows:
        return None
    has_prices = all(row.attempt_cost_usd is not None for row in rows) and any(row.attempt_cost_usd for row in rows)
    place = _attempt_cost if has_prices else _attempt_tokens
    name = title(f"Accuracy against {'cost' if has_prices else 'tokens'}", is_simulated=board.is_simulated)
    figure, (axes,) = _panels(name, 1, height_in=3.9, legend=[kinds[row.entrant.label].name for row in rows])
    for row in rows:
        look = kinds[row.entrant.label]
        axes.errorbar(
            place(row),
            100 * row.accuracy.mean,
            yerr=_reach(row.accuracy.mean, row.accuracy.low, row.accuracy.high),
            fmt=look.marker,
            color=look.colour,
            # Rings over discs: where two systems meet, both are seen.
            markerfacecolor=look.colour if look.is_filled else "none",
            markersize=8 if look.is_filled else 11,
            markeredgewidth=1.6,
            capsize=4,
            label=look.name,
            zorder=2 if look.is_filled else 3,
        )
    _front(axes, rows, place)
    _cost_axis(axes, [place(row) for row in rows], is_money=has_prices)
    _accuracy_axis(axes)
    _legend(figure, axes)
    reason = "" if has_prices else " Tokens stand for cost because not every system has a known price above zero."
    return Drawing(
        name="accuracy_cost",
        title=name,
        caption=(
            "Mean over tasks with its 95 % interval; up and to the left is better. Hollow markers are single agents. "
            f"The dotted line joins the systems that no other beats in both accuracy and cost.{reason}"
        ),
        figure=figure,
    )


def _attempt_cost(row: SystemRow) -> float:
    return row.attempt_cost_usd or 0.0


def _attempt_tokens(row: SystemRow) -> float:
    return row.attempt_tokens


def _front(axes: "Axes", rows: Sequence[SystemRow], place: Callable[[SystemRow], float]) -> None:
    best: list[tuple[float, float]] = []
    for row in sorted(rows, key=lambda row: (place(row), -row.accuracy.mean)):
        if not best or row.accuracy.mean > best[-1][1]:
            best.append((place(row), row.accuracy.mean))
    if len(best) > 1:
        costs, accuracies = zip(*best, strict=True)
        axes.step(costs, [100 * accuracy for accuracy in accuracies], where="post", color=GREY, linestyle=":", zorder=1)


def _cost_axis(axes: "Axes", costs: Sequence[float], *, is_money: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = min(costs), max(costs)
    if low > 0 and high > 8 * low:
        axes.set_xscale("log")
        axes.set_xlim(low / 1.6, high * 1.6)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_xlim(0, 1.15 * high or 1)
    scale = ", logarithmic" if axes.get_xscale() == "log" else ""
    axes.set_xlabel(
        f"mean {'cost' if is_money else 'use'} of an attempt ({'US dollars' if is_money else 'tokens'}{scale})"
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: dollars(cost) if is_money else f"{cost:,.0f}"))


def _axis_accuracy(board: Scoreboard, kinds: Mapping[str, Look]) -> Drawing | None:
    if not board.axes:
        return None
    name = title("Accuracy along each axis", is_simulated=board.is_simulated)
    figure, panels = _panels(name, len(board.axes), height_in=2.6, legend=[look.name for look in kinds.values()])
    for axes, table in zip(panels, board.axes, strict=True):
        for label, look in kinds.items():
            _band(axes, table, label, look)
        _value_axis(axes, table)
        _accuracy_axis(axes)
    _legend(figure, panels[0])
    return Drawing(
        name="axis_accuracy",
        title=name,
        caption="Mean over the tasks at each value, its 95 % interval as a band; single agents are dashed and hollow.",
        figure=figure,
    )


def _band(axes: "Axes", table: AxisTable, label: str, look: Look) -> None:
    found = {point.value: point.accuracy for point in table.points if point.entrant.label == label}
    marks = [place for place, value in enumerate(table.values) if not math.isnan(found[value].mean)]
    intervals = [found[table.values[place]] for place in marks]
    axes.fill_between(
        marks,
        [100 * one.low for one in intervals],
        [100 * one.high for one in intervals],
        color=look.colour,
        alpha=0.1,
        linewidth=0,
    )
    axes.plot(
        marks,
        [100 * one.mean for one in intervals],
        look.line,
        color=look.colour,
        marker=look.marker,
        markerfacecolor=look.colour if look.is_filled else "white",
        markersize=5,
        label=look.name,
    )


def _axis_gain(board: Scoreboard, kinds: Mapping[str, Look]) -> Drawing | None:
    labels = list(dict.fromkeys(gain.paired.system.label for table in board.axes for gain in table.gains))
    if not labels:
        return None
    is_over_single = all(gain.paired.reference.info.is_single_agent for table in board.axes for gain in table.gains)
    over = "single agent" if is_over_single else "reference"
    name = title(f"Gain over the {over} along each axis", is_simulated=board.is_simulated)
    figure, panels = _panels(name, len(board.axes), height_in=2.6, legend=[kinds[label].name for label in labels])
    for axes, table in zip(panels, board.axes, strict=True):
        axes.axhline(0, color=INK, linewidth=1)
        axes.axhspan(-100 * board.margin, 100 * board.margin, color="#e5e7eb", zorder=0)
        for number, label in enumerate(labels):
            shift = 0.5 * ((number + 0.5) / len(labels) - 0.5)
            pairs = [(gain.value, gain.paired) for gain in table.gains if gain.paired.system.label == label]
            _gains(axes, [(table.values.index(value) + shift, paired) for value, paired in pairs], kinds[label])
        _value_axis(axes, table)
        axes.set_ylabel("gain (percentage points)")
        axes.sharey(panels[0])
    panels[0].autoscale(axis="y")
    _legend(figure, panels[0])
    return Drawing(
        name="axis_gain",
        title=name,
        caption=(
            "System minus reference, paired by task, with 95 % intervals. A filled marker is a verdict, a hollow one "
            f"cannot tell; the grey stripe is ±{100 * board.margin:g} points."
        ),
        figure=figure,
    )


def _gains(axes: "Axes", placed: Sequence[tuple[float, Paired]], look: Look) -> None:
    for number, (place, paired) in enumerate(placed):
        difference = paired.difference
        is_verdict = paired.verdict.kind is not VerdictKind.CANNOT_TELL
        axes.errorbar(
            place,
            100 * difference.mean,
            yerr=_reach(difference.mean, difference.low, difference.high),
            fmt=look.marker,
            color=look.colour,
            markerfacecolor=look.colour if is_verdict else "white",
            markersize=6,
            capsize=2,
            elinewidth=1.2,
            label=look.name if number == 0 else None,
        )


def _panels(
    name: str, count: int, *, height_in: float, width_in: float = _WIDTH_IN, legend: Sequence[str] = ()
) -> "tuple[Figure, list[Axes]]":
    """A figure with `count` panels side by side, in rows of three, with room for a legend of these names below."""
    from matplotlib.figure import Figure

    columns = min(count, _PANELS_A_ROW)
    rows = -(-count // columns)
    legend_in = _LEGEND_LINE_IN * -(-len(legend) // _legend_columns(legend)) if legend else 0.0
    figure = Figure(figsize=(width_in, height_in * rows + legend_in + 0.4), layout="constrained")
    figure.suptitle(name)
    return figure, [figure.add_subplot(rows, columns, place + 1) for place in range(count)]


def _legend(figure: "Figure", axes: "Axes") -> None:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=_legend_columns(names))


def _legend_columns(names: Sequence[str]) -> int:
    return 1 if len(names) == 1 or max(map(len, names)) > _LONGEST_IN_TWO_COLUMNS else 2


def _value_axis(axes: "Axes", table: AxisTable) -> None:
    axes.set_title(drawable(table.axis, LONGEST_AXIS))
    axes.set_xlabel("axis value")
    axes.set_xlim(-0.5, len(table.values) - 0.5)
    axes.set_xticks(range(len(table.values)), [drawable(str(value), LONGEST_VALUE) for value in table.values])


def _accuracy_axis(axes: "Axes") -> None:
    axes.set_ylim(-2, 102)  # the whole scale, with room for markers at its ends
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("accuracy (%)")


def _reach(mean: float, low: float, high: float) -> list[list[float]] | None:
    """Lengths of an error bar below and above, in percent; ``None`` without an interval."""
    return None if math.isnan(low) else [[100 * max(0.0, mean - low)], [100 * max(0.0, high - mean)]]
