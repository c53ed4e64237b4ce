"""A table of results as Markdown: one line a measurement, one column a peer."""

from results import Row, Table
from workers import PEERS


def show(tables: tuple[Table, ...]) -> None:
    """Print them."""
    for table in tables:
        print(markdown(table))


def markdown(table: Table) -> str:
    """Title, explanation, command and rows."""
    peers = list(dict.fromkeys(row.peer for row in table.rows))
    measurements = list(dict.fromkeys(row.measurement for row in table.rows))
    cells = {(row.measurement, row.peer): row for row in table.rows}
    lines = [
        f"## {table.title} ({table.unit})",
        "",
        table.explanation,
        "",
        "| " + " | ".join(["", *(PEERS.get(peer, peer) for peer in peers), "target"]) + " |",
        "|---" * (len(peers) + 2) + "|",
    ]
    for name in measurements:
        found = [cells.get((name, peer)) for peer in peers]
        goal = next((row for row in found if row and row.target is not None), None)
        note = next((f" ({row.note})" for row in found if row and row.note), "")
        lines.append("| " + " | ".join([name + note, *(number(row) for row in found), verdict(goal)]) + " |")
    return "\n".join([*lines, "", f"`{table.command}`", ""])


def number(row: Row | None) -> str:
    """The median, and the range where there were several repetitions."""
    if row is None:
        return ""
    spread = f" ({short(row.low)} to {short(row.high)})" if row.repetitions > 1 else ""
    return short(row.value) + spread


def short(value: float) -> str:
    """Three significant digits, no exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}" if value < 1 else f"{value:.2f}"


def verdict(row: Row | None) -> str:
    """The target and whether it is met."""
    if row is None or row.target is None:
        return ""
    return f"{'≥' if row.at_least else '≤'} {row.target:g}: {'met' if row.met else '**missed**'}"
