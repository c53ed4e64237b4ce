"""What the measuring scripts give back: rows with a number each, and targets that a row meets or not."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """One number of one peer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measurement: str
    """What was measured: a shape, a number of calls in flight, a module."""
    peer: str
    value: float
    """Median of the repetitions."""
    low: float
    high: float
    repetitions: int
    target: float | None = None
    """Bound that we set ourselves; only our own rows have one."""
    at_least: bool = False
    """The target is a lower bound."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target is met, ``None`` without one."""
        if self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target


class Table(BaseModel):
    """One measuring script's rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    unit: str
    command: str
    explanation: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A target for our own rows of one measurement."""

    value: float
    at_least: bool = False


def row(measurement: str, peer: str, values: list[float], *, goal: Goal | None = None, note: str = "") -> Row:
    """A row of repetitions; the goal is kept on our own rows only."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    ours = goal if peer == "mas_orchestra" else None
    return Row(
        measurement=measurement,
        peer=peer,
        value=round(median, 4),
        low=round(ordered[0], 4),
        high=round(ordered[-1], 4),
        repetitions=len(values),
        target=ours.value if ours else None,
        at_least=ours.at_least if ours else False,
        note=note,
    )
