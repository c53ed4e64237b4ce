"""What a set of rows looks like: how answers, sizes and axes are distributed."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from mas_orchestra.masbench.load import BenchRow
from mas_orchestra.types import JsonValue

__all__ = ["Histogram", "SetStatistics", "count", "draw_svg"]

_BAR = 40
_MEASURED = ("depth", "breadth", "needed", "statements", "operations", "equalities", "text_depth", "text_breadth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often each value occurs, in the order of the values."""

    name: str
    counts: dict[int, int]

    def lines(self) -> Iterator[str]:
        """The histogram as text."""
        most = max(self.counts.values(), default=1)
        yield self.name
        for value, times in self.counts.items():
            yield f"  {value:>6} {'█' * max(1, round(_BAR * times / most)):<{_BAR}} {times:,}"


@dataclass(slots=True, kw_only=True)
class SetStatistics:
    """Counts over a set.

    Attributes:
        rows: By axis, value and split (``-`` where a row does not say).
        answers: Final answers, one a row; those above 22 are no residues and are counted apart.
        characters: Lengths of questions, in hundreds.
        measured: Distributions of certified sizes, where rows are ours.
        attacks: Kinds of attack, where there is one.
    """

    rows: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)
    others: int = 0
    characters: Counter[int] = field(default_factory=Counter)
    measured: dict[str, Counter[int]] = field(default_factory=lambda: {name: Counter() for name in _MEASURED})
    attacks: Counter[str] = field(default_factory=Counter)

    def add(self, row: BenchRow) -> None:
        """Count one row."""
        self.rows[row.axis or "-", "-" if row.value is None else str(row.value), row.split or "-"] += 1
        self.characters[len(row.question) // 100 * 100] += 1
        final = row.answers[-1]
        if final.isdecimal() and int(final) < 23:
            self.answers[int(final)] += 1
        else:
            self.others += 1
        if row.problem is not None:
            for name, counter in self.measured.items():
                counter[getattr(row.problem.measured, name)] += 1
            if row.problem.attack is not None:
                self.attacks[row.problem.attack] += 1

    def histograms(self) -> list[Histogram]:
        """Everything that is a distribution over numbers, empty ones left out."""
        named = {"final answer": self.answers, "characters of the question": self.characters} | self.measured
        return [
            Histogram(name=name.replace("_", " "), counts=dict(sorted(counts.items())))
            for name, counts in named.items()
            if counts
        ]

    def document(self) -> dict[str, JsonValue]:
        """All of it for programs."""
        return {
            "rows": self.rows.total(),
            "groups": [
                {"axis": axis, "value": value, "split": split, "rows": rows}
                for (axis, value, split), rows in sorted(self.rows.items(), key=_natural)
            ],
            "other_answers": self.others,
            "attacks": dict(self.attacks),
            "histograms": {
                histogram.name: {str(value): times for value, times in histogram.counts.items()}
                for histogram in self.histograms()
            },
        }


def _natural(item: tuple[tuple[str, str, str], int]) -> tuple[str, int, str]:
    (axis, value, split), _ = item
    return axis, int(value) if value.isdecimal() else -1, split


def count(rows: Iterable[BenchRow]) -> SetStatistics:
    """Statistics of all rows, in one pass."""
    statistics = SetStatistics()
    for row in rows:
        statistics.add(row)
    return statistics


def draw_svg(histograms: Iterable[Histogram]) -> str:
    """The histograms below each other as one SVG picture, without a plotting library."""
    parts: list[str] = []
    top = 30
    for histogram in histograms:
        parts.append(f'<text x="10" y="{top}" font-weight="bold">{escape(histogram.name)}</text>')
        most = max(histogram.counts.values(), default=1)
        for value, times in histogram.counts.items():
            top += 18
            parts += [
                f'<text x="70" y="{top}" text-anchor="end">{value}</text>',
                f'<rect x="80" y="{top - 11}" width="{max(1, round(420 * times / most))}" height="13"/>',
                f'<text x="510" y="{top}">{times:,}</text>',
            ]
        top += 40
    style = "text{font:13px sans-serif;fill:#222}rect{fill:#4477aa}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="{top}" viewBox="0 0 600 {top}">'
    return "\n".join(
        [head, f"<style>{style}</style>", '<rect width="600" height="100%" style="fill:#fff"/>', *parts, "</svg>\n"]
    )
