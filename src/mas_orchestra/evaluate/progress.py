"""How far a run is: counts by system, kept up to date by whoever runs it and shown by whoever watches."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Ended", "Tallies", "Tally", "Watch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """One attempt that was stored.

    Attributes:
        score: ``None`` when it has none.
        is_new: False when it replaces an earlier try without a score.
    """

    system: str
    score: float | None
    cost_usd: float | None
    is_new: bool = True


class Watch(Protocol):
    """Told of a run's attempts as they begin and end."""

    def started(self, system: str) -> None:
        """An attempt began."""
        ...

    def ended(self, ended: Ended) -> None:
        """An attempt was stored."""
        ...

    def aborted(self, system: str) -> None:
        """An attempt was cut off and is not stored."""
        ...


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts of one system.

    Attributes:
        total: Attempts that there are to be.
        scored, errored: Attempts that are stored, with a score and without.
        score_sum: Of the scored ones.
        cost_usd: Of all that are stored; ``None`` as soon as one is unknown.
        in_flight: Attempts under way.
        finished_here: Attempts that ended since this start of the run.
    """

    total: int = 0
    scored: int = 0
    errored: int = 0
    score_sum: float = 0.0
    cost_usd: float | None = 0.0
    in_flight: int = 0
    finished_here: int = 0

    @property
    def done(self) -> int:
        """Attempts that are stored."""
        return self.scored + self.errored

    @property
    def accuracy(self) -> float | None:
        """Mean score so far; ``None`` without any."""
        return self.score_sum / self.scored if self.scored else None

    def eta_s(self, elapsed_s: float) -> float | None:
        """Seconds until the system is done at the pace so far, and ``None`` before there is one."""
        if not self.finished_here or elapsed_s <= 0:
            return None
        return max(0, self.total - self.scored) * elapsed_s / self.finished_here

    def add(self, ended: Ended) -> None:
        """Count an attempt that was stored."""
        self.in_flight = max(0, self.in_flight - 1)
        self.finished_here += 1
        if not ended.is_new:
            self.errored = max(0, self.errored - 1)
        if ended.score is None:
            self.errored += 1
        else:
            self.scored += 1
            self.score_sum += ended.score
        is_known = self.cost_usd is not None and ended.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (ended.cost_usd or 0.0) if is_known else None


class Tallies:
    """A `Watch` that counts."""

    def __init__(self, tallies: dict[str, Tally]) -> None:
        self.by_system = tallies

    def started(self, system: str) -> None:
        """One more in flight."""
        self.by_system[system].in_flight += 1

    def ended(self, ended: Ended) -> None:
        """One more stored."""
        self.by_system[ended.system].add(ended)

    def aborted(self, system: str) -> None:
        """One less in flight."""
        self.by_system[system].in_flight -= 1
