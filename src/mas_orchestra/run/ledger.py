"""What a run has spent: every call once, in disjoint buckets, failed and cancelled ones included."""

from collections import defaultdict
from collections.abc import Iterable

from mas_orchestra.run.outcome import CallRecord
from mas_orchestra.types import Usage

__all__ = ["Ledger", "total_cost_usd", "total_usage"]


class Ledger:
    """The calls of one run in the order in which they ended, with running totals."""

    def __init__(self) -> None:
        self.records: list[CallRecord] = []
        self._by_step: defaultdict[str, list[CallRecord]] = defaultdict(list)
        self.calls = 0
        self.usage = Usage()
        self.cost_usd: float | None = 0.0
        self.known_cost_usd = 0.0
        """Price of the calls whose price is known: what a cost limit can bind."""

    def book(self, record: CallRecord) -> None:
        """Add a call; nothing is ever taken out again."""
        self.records.append(record)
        self._by_step[record.step].append(record)
        self.calls += record.calls
        self.usage += record.usage
        self.cost_usd = _add(self.cost_usd, record.cost_usd)
        self.known_cost_usd += record.cost_usd or 0.0

    def of_step(self, step: str) -> tuple[CallRecord, ...]:
        """The calls that one step made."""
        return tuple(self._by_step[step])


def total_usage(records: Iterable[CallRecord]) -> Usage:
    """Tokens of all `records`."""
    total = Usage()
    for record in records:
        total += record.usage
    return total


def total_cost_usd(records: Iterable[CallRecord]) -> float | None:
    """Price of all `records`; ``None`` as soon as one is unknown, for an unknown part is not zero."""
    total: float | None = 0.0
    for record in records:
        total = _add(total, record.cost_usd)
    return total


def _add(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right
