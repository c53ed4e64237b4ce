"""Counts and estimates of an evaluation as lines for people."""

from collections.abc import Mapping, Sequence

from mas_orchestra.cli.figures import money, seconds
from mas_orchestra.cli.printable import one_line
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.evaluate.estimate import Estimate, SystemEstimate
from mas_orchestra.evaluate.progress import Tally

__all__ = ["estimate_lines", "progress_line", "scoreboard_lines", "table"]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned columns, the first to the left and all others to the right.

    >>> table([("system", "calls"), ("cot", "1,200")])
    ['system  calls', 'cot     1,200']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def scoreboard_lines(tallies: Mapping[str, Tally]) -> list[str]:
    """One line a system: scored, errored, accuracy, cost."""
    rows = [("system", "scored", "errored", "accuracy", "cost")]
    for name, tally in tallies.items():
        scored = f"{tally.scored:,}/{tally.total:,}"
        rows.append((one_line(name, limit=60), scored, f"{tally.errored:,}", _accuracy(tally), money(tally.cost_usd)))
    return table(rows)


def _accuracy(tally: Tally) -> str:
    return "-" if tally.accuracy is None else f"{100 * tally.accuracy:.1f} %"


def progress_line(name: str, tally: Tally, elapsed_s: float, *, width: int = 28) -> str:
    """How far one system is, in one line."""
    eta_s = tally.eta_s(elapsed_s)
    left = "done" if tally.scored >= tally.total else f"ETA {seconds(eta_s)}" if eta_s is not None else "ETA -"
    label = one_line(name, limit=width).ljust(width)
    return (
        f"{label} {tally.done:>6,}/{tally.total:<6,} {tally.scored:>6,} scored {tally.errored:>4,} errored "
        f"{_accuracy(tally):>7} {money(tally.cost_usd):>9} {tally.in_flight:>4,} in flight  {left}"
    )


def estimate_lines(found: Estimate, spent: Spent) -> list[str]:
    """What is still to come, by system and in all."""
    rows: list[tuple[str, ...]] = [("system", "attempts", "calls", "at worst", "tokens", "cost", "at worst")]
    rows += [_estimate_row(one) for one in (*found.systems, found.total)]
    lines = table(rows)
    if spent.calls:
        lines.append(f"spent before: {spent.calls:,} calls, {spent.tokens:,} tokens, cost {money(spent.cost_usd)}")
    return lines


def _estimate_row(one: SystemEstimate) -> tuple[str, ...]:
    return (
        one_line(one.system, limit=60),
        f"{one.attempts:,}",
        _number(one.calls),
        _number(one.worst_calls),
        _number(one.tokens),
        money(one.cost_usd),
        money(one.worst_cost_usd),
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"
