"""How every figure of a report looks, and how it becomes SVG and PNG.

Colours are those of Okabe and Ito (2008), which people with any colour vision can tell apart; systems differ by marker,
too. Names of systems come from users and models: they are drawn as plain text, never as formulas, and cut.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from mas_orchestra.evaluate.entrants import Entrant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "GREY",
    "INK",
    "ORANGE",
    "Drawing",
    "Look",
    "drawable",
    "looks",
    "png",
    "style",
    "svg",
    "title",
    "with_own_ids",
]

INK, GREY, BLUE, ORANGE = "#1f2937", "#6b7280", "#0072B2", "#D55E00"
_COLOURS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vP*Xph<>"
_LONGEST_NAME = 60
LONGEST_AXIS, LONGEST_VALUE = 24, 10
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.facecolor": "white",
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#e5e7eb",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.dpi": 160,
    "svg.fonttype": "path",
    "svg.hashsalt": "mas-orchestra",  # the same report gives the same bytes
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}
_SVG_STYLE = re.compile(r"<style[^>]*>[^<]*</style>")
_SVG_ID = re.compile(r'( id="|href="#|="url\(#)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A figure of the report.

    Attributes:
        name: Of its files.
        caption: What it shows and how to read it.
    """

    name: str
    title: str
    caption: str
    figure: "Figure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a system is drawn in every figure; single agents are dashed and hollow."""

    name: str
    colour: str
    marker: str
    line: str
    is_filled: bool


def title(text: str, *, is_simulated: bool) -> str:
    """A title that says so when any number comes from a simulated model.

    >>> title("Scoreboard", is_simulated=True)
    'SIMULATED: Scoreboard'
    """
    return f"SIMULATED: {text}" if is_simulated else text


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings for the block."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def looks(field: Sequence[Entrant]) -> Mapping[str, Look]:
    """A look for each system, by label, the same in every figure."""
    return {
        entrant.label: Look(
            name=drawable(entrant.shown),
            colour=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            line="--" if entrant.info.is_single_agent else "-",
            is_filled=not entrant.info.is_single_agent,
        )
        for number, entrant in enumerate(field)
    }


def drawable(text: str, length: int = _LONGEST_NAME) -> str:
    """`text` in one line of at most `length` characters, what the font lacks replaced."""
    line = shorten(text, width=10 * length, placeholder="…")
    if len(line) > length:  # the end of a name tells systems apart as often as the beginning
        line = f"{line[: length * 2 // 3 - 1]}…{line[-(length - length * 2 // 3) :]}"
    return "".join(character if ord(character) in _characters() else "\N{REPLACEMENT CHARACTER}" for character in line)


@cache
def _characters() -> frozenset[int]:
    """What the font of the figures can draw."""
    from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def svg(drawing: Drawing) -> str:
    """The figure as one SVG element with ids of its own."""
    buffer = io.StringIO()
    with style():
        drawing.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": drawing.title})
    element = buffer.getvalue()
    element = element[element.index("<svg") :]
    element = _SVG_STYLE.sub("", element, count=1).replace("<svg ", '<svg stroke-linejoin="round" ', 1)
    return with_own_ids(element, drawing.name)


def with_own_ids(element: str, prefix: str) -> str:
    """An SVG element whose ids begin with `prefix`, so that several fit into one page.

    >>> with_own_ids('<g id="arrow"/><path marker-end="url(#arrow)"/>', "plan1")
    '<g id="plan1-arrow"/><path marker-end="url(#plan1-arrow)"/>'
    """
    return _SVG_ID.sub(rf"\1{prefix}-", element)


def png(drawing: Drawing) -> bytes:
    """The figure as a PNG at 160 dots an inch."""
    buffer = io.BytesIO()
    with style():
        drawing.figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
