"""The heat map of verdicts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mas_orchestra.evaluate.comparison import Paired
from mas_orchestra.evaluate.figure_style import (
    BLUE,
    GREY,
    INK,
    LONGEST_AXIS,
    LONGEST_VALUE,
    ORANGE,
    Drawing,
    Look,
    drawable,
    title,
)
from mas_orchestra.evaluate.scoreboard import Scoreboard
from mas_orchestra.evaluate.verdict import VerdictKind
from mas_orchestra.evaluate.wording import points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["verdict_map"]

_LETTER_IN = 0.075
_FEWEST_COLUMNS = 8
"""A map of fewer columns leaves its right side empty rather than stretch its cells."""
_VERDICTS = {
    VerdictKind.SYSTEM_BETTER: ("system better", BLUE, "white"),
    VerdictKind.REFERENCE_BETTER: ("reference better", ORANGE, "white"),
    VerdictKind.EQUIVALENT: ("no difference larger than the margin", "#c7cbd1", INK),
    VerdictKind.CANNOT_TELL: ("cannot tell", "white", INK),
}


def verdict_map(board: Scoreboard, kinds: Mapping[str, Look]) -> Drawing | None:
    """Systems by values of the axes, each cell a gain on the colour of its verdict; ``None`` for one cell alone."""
    from matplotlib.figure import Figure

    gains = [gain for table in board.axes for gain in table.gains]
    labels = list(dict.fromkeys(gain.paired.system.label for gain in gains))
    labels = labels or list(dict.fromkeys(one.system.label for one in board.comparisons))
    columns = [("", "all tasks"), *((table.axis, str(value)) for table in board.axes for value in table.values)]
    if len(labels) * len(columns) < 2:
        return None
    with_reference = [one for one in board.comparisons if one.reference.label == one.system.reference]
    cells = {(one.system.label, columns[0]): one for one in with_reference}
    for table in board.axes:
        cells |= {(gain.paired.system.label, (table.axis, str(gain.value))): gain.paired for gain in table.gains}
    name = title("Verdicts", is_simulated=board.is_simulated)
    names = [kinds[label].name for label in labels]
    width_in = max(7.0, 1.0 + _LETTER_IN * max(map(len, names)) + 0.5 * max(len(columns), _FEWEST_COLUMNS))
    figure = Figure(figsize=(width_in, 1.5 + 0.42 * len(labels)), layout="constrained")
    figure.suptitle(name)
    axes = figure.add_subplot()
    for row, label in enumerate(labels):
        for column, place in enumerate(columns):
            if (paired := cells.get((label, place))) is not None:
                _cell(axes, column, row, paired)
    _map_axes(axes, columns, names)
    _verdict_legend(figure)
    return Drawing(
        name="verdicts",
        title=name,
        caption=(
            f"Gain over the reference in percentage points; the margin is {100 * board.margin:g} points. Error rates "
            "are held over all tasks as one family and over the axis values as another (Holm)."
        ),
        figure=figure,
    )


def _cell(axes: "Axes", column: int, row: int, paired: Paired) -> None:
    from matplotlib.patches import Rectangle

    _, fill, ink = _VERDICTS[paired.verdict.kind]
    axes.add_patch(Rectangle((column - 0.47, row - 0.44), 0.94, 0.88, facecolor=fill, edgecolor="#c7cbd1"))
    gain = points(paired.difference.mean)
    axes.text(column, row, gain, ha="center", va="center", color=ink, fontsize=8)


def _map_axes(axes: "Axes", columns: Sequence[tuple[str, str]], names: Sequence[str]) -> None:
    axes.grid(visible=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlim(-0.6, max(len(columns), _FEWEST_COLUMNS) - 0.4)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(range(len(columns)), [drawable(value, LONGEST_VALUE).replace(" ", "\n") for _, value in columns])
    for axis in dict.fromkeys(axis for axis, _ in columns if axis):
        places = [place for place, (other, _) in enumerate(columns) if other == axis]
        axes.axvline(places[0] - 0.5, color=GREY, linewidth=0.8)
        axes.text(
            (places[0] + places[-1]) / 2, -0.75, drawable(axis, LONGEST_AXIS), ha="center", va="bottom", fontsize=9
        )


def _verdict_legend(figure: "Figure") -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=fill, edgecolor="#c7cbd1", label=words) for words, fill, _ in _VERDICTS.values()]
    figure.legend(handles=patches, loc="outside lower center", ncols=4)
