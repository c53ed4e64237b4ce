"""A plan as a picture: one row a level, sources on top, the sink at the bottom with a thick border.

The picture is a static SVG without scripts, styles from outside or links; texts are escaped and cut.
"""

import re
from dataclasses import dataclass
from html import escape
from textwrap import shorten

from mas_orchestra.plan.graph import Graph
from mas_orchestra.plan.layout import Layout, layout
from mas_orchestra.plan.schema import Plan, Step

__all__ = ["svg"]

_BOX_WIDTH, _BOX_HEIGHT = 196, 66
_GAP_X, _GAP_Y, _MARGIN = 28, 52, 20
_LINE = 30
"""Characters that fit into a box."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#9d755d", "#6b7280")


def svg(plan: Plan) -> str:
    """The drawing; a plan with a cycle is drawn too, its steps in one row."""
    steps = plan.steps or (Step(id="answer", agent="direct answer", description=plan.answer or ""),)
    numbers = {step.id: number for number, step in reversed(list(enumerate(steps)))}
    edges = [
        (numbers[edge.source], numbers[edge.target])
        for edge in plan.edges
        if edge.source in numbers and edge.target in numbers and edge.source != edge.target
    ]
    graph = Graph(len(steps), edges)
    shape = graph.shape()
    placed = layout(len(steps), edges, shape.levels if shape else (0,) * len(steps))
    canvas = _Canvas(placed)
    kinds = {
        agent: _COLOURS[number % len(_COLOURS)] for number, agent in enumerate(dict.fromkeys(s.agent for s in steps))
    }
    sinks = set(graph.sinks())
    lines = [canvas.curve(route) for route in placed.routes]
    boxes = [canvas.box(number, step, kinds[step.agent], is_sink=number in sinks) for number, step in enumerate(steps)]
    return "\n".join([canvas.head(), *lines, *boxes, "</svg>"])


@dataclass(frozen=True, slots=True)
class _Canvas:
    """Turns rows and columns into pixels."""

    placed: Layout

    def head(self) -> str:
        """The opening tag, a white ground and the arrow's head."""
        width = self.placed.width * (_BOX_WIDTH + _GAP_X) - _GAP_X + 2 * _MARGIN
        height = self.placed.rows * (_BOX_HEIGHT + _GAP_Y) - _GAP_Y + 2 * _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="11">\n'
            '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0 10 5 0 10z" fill="#64748b"/></marker></defs>\n'
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
        )

    def box(self, number: int, step: Step, colour: str, *, is_sink: bool) -> str:
        """A step: id, sub-agent, the beginning of its description."""
        x, y = self._left(self.placed.columns[number]), self._top(self.placed.levels[number])
        border = 'stroke="#0f172a" stroke-width="2.5"' if is_sink else f'stroke="{colour}" stroke-width="1.2"'
        summary = step.description.strip() or step.input.strip() or "the question itself"
        return (
            f"<g><title>{_safe(step.input or 'the question itself', 600)}</title>"
            f'<rect x="{x:g}" y="{y:g}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" fill="#f8fafc" {border}/>'
            f'<rect x="{x:g}" y="{y + 6:g}" width="5" height="{_BOX_HEIGHT - 12}" fill="{colour}"/>'
            f'<text x="{x + 14:g}" y="{y + 20:g}" font-size="13" font-weight="bold" fill="#0f172a">'
            f"{_safe(step.id, 24)}</text>"
            f'<text x="{x + 14:g}" y="{y + 37:g}" fill="{colour}" font-weight="bold">{_safe(step.agent, _LINE)}</text>'
            f'<text x="{x + 14:g}" y="{y + 54:g}" fill="#475569">{_safe(summary, _LINE)}</text></g>'
        )

    def curve(self, route: tuple[tuple[int, float], ...]) -> str:
        """An edge through its (row, column) points, from the bottom of one box to the top of another."""
        first_row, first_column = route[0]
        path = f"M{self._middle(first_column):g} {self._top(first_row) + _BOX_HEIGHT:g}"
        before = first_column
        for position, (row, column) in enumerate(route[1:], 1):
            top, bend = self._top(row), _GAP_Y / 2
            path += (
                f"C{self._middle(before):g} {top - bend:g} {self._middle(column):g} {top - bend:g} "
                f"{self._middle(column):g} {top:g}"
            )
            if position < len(route) - 1:
                path += f"V{top + _BOX_HEIGHT:g}"
            before = column
        return f'<path d="{path}" fill="none" stroke="#64748b" stroke-width="1.3" marker-end="url(#arrow)"/>'

    def _left(self, column: float) -> float:
        return _MARGIN + column * (_BOX_WIDTH + _GAP_X)

    def _middle(self, column: float) -> float:
        return self._left(column) + _BOX_WIDTH / 2

    def _top(self, row: int) -> float:
        return _MARGIN + row * (_BOX_HEIGHT + _GAP_Y)


def _safe(text: str, length: int) -> str:
    """A short line that XML can hold and that is only text."""
    return escape(_NOT_XML.sub("\ufffd", shorten(text, length, placeholder="…")))
