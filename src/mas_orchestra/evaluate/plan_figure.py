"""What the plans of each multi-agent system are made of, as histograms."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mas_orchestra.evaluate.diagnostics import Diagnosis
from mas_orchestra.evaluate.figure_style import BLUE, Drawing, drawable, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plan_shapes"]

_MOST_AGENTS = 8
_MOST_TICKS = 10


def plan_shapes(diagnoses: Sequence[Diagnosis], *, is_simulated: bool) -> Drawing | None:
    """One row a system: sub-agents by share of steps; steps, width and length by share of plans."""
    from matplotlib.figure import Figure

    shown = [one for one in diagnoses if one.plans and not one.entrant.info.is_single_agent]
    if not shown:
        return None
    name = title("What the plans are made of", is_simulated=is_simulated)
    figure = Figure(figsize=(9.6, 0.6 + 2.5 * len(shown)), layout="constrained")
    figure.suptitle(name)
    for row, one in zip(figure.subfigures(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        row.suptitle(f"{drawable(one.entrant.shown)}: {one.plans:,} plans", fontsize=10, fontweight="normal")
        agents, *shapes = row.subplots(1, 4, width_ratios=(1.5, 1, 1, 1))
        _agents(agents, one.agents)
        for axes, label, counts in zip(
            shapes,
            ("steps of a plan", "width (steps side by side)", "length (steps in a row)"),
            (one.steps, one.widths, one.lengths),
            strict=True,
        ):
            _counts(axes, label, counts)
        shapes[0].set_ylabel("plans (%)")
    return Drawing(
        name="plan_shapes",
        title=name,
        caption=(
            "All valid plans of each multi-agent system. Bars at one sub-agent and one step mean a collapse into a "
            "single agent; a direct answer has no steps."
        ),
        figure=figure,
    )


def _agents(axes: "Axes", agents: Mapping[str, int]) -> None:
    total = sum(agents.values())
    kept = dict(list(agents.items())[:_MOST_AGENTS])
    if rest := total - sum(kept.values()):
        kept["others"] = rest
    axes.barh(range(len(kept)), [100 * count / total for count in kept.values()], color=BLUE, height=0.7)
    axes.set_yticks(range(len(kept)), [drawable(agent, 20) for agent in kept])
    axes.set_ylim(max(len(kept), 3) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("steps (%)")
    axes.grid(visible=False, axis="y")


def _counts(axes: "Axes", label: str, counts: Mapping[int, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    total = sum(counts.values())
    axes.bar(list(counts), [100 * count / total for count in counts.values()], color=BLUE, width=0.7)
    low, high = min(counts, default=0), max(counts, default=0)
    axes.set_xlim(min(low, 1) - 0.6, max(high, 4) + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=_MOST_TICKS, integer=True, min_n_ticks=1))
    axes.set_ylim(0, 100)
    axes.set_xlabel(label)
    axes.grid(visible=False, axis="x")
