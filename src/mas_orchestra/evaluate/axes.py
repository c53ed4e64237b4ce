"""Accuracy and gain against the value of a structural axis, for tasks that carry one (MASBENCH)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mas_orchestra.evaluate.comparison import Paired, Pairing, compare
from mas_orchestra.evaluate.entrants import Entrant, TaskKey
from mas_orchestra.evaluate.statistics import Interval, mean_interval
from mas_orchestra.tasks.task import Task

__all__ = ["AxisGain", "AxisPoint", "AxisTable", "axis_tables"]

AxisValue = int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisPoint:
    """One system at one value of an axis."""

    entrant: Entrant
    value: AxisValue
    accuracy: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisGain:
    """A multi-agent system minus its reference at one value of an axis."""

    value: AxisValue
    paired: Paired


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTable:
    """One axis.

    Attributes:
        values: In ascending order, numbers as numbers.
        points: Every system at every value.
        gains: Every multi-agent system at every value, against its reference.
    """

    axis: str
    values: tuple[AxisValue, ...]
    points: tuple[AxisPoint, ...]
    gains: tuple[AxisGain, ...]


def axis_tables(
    field: Sequence[Entrant], pairs: Sequence[tuple[Entrant, Entrant]], *, margin: float
) -> tuple[AxisTable, ...]:
    """One table an axis, by the tasks' metadata ``axis`` and ``value``; the gains of all axes are one family.

    Args:
        field: All entrants.
        pairs: System and reference; those whose system is a single agent have no gain.
        margin: Smallest difference that matters.
    """
    cells = _cells(field)
    family = [
        (axis, value, Pairing(name=f"{axis} {value}", system=system, reference=reference, keys=keys))
        for (axis, value), keys in cells.items()
        for system, reference in pairs
        if not system.info.is_single_agent
    ]
    compared = compare([pairing for _, _, pairing in family], margin=margin)
    gains = [(axis, AxisGain(value=value, paired=one)) for (axis, value, _), one in zip(family, compared, strict=True)]
    return tuple(
        AxisTable(
            axis=axis,
            values=tuple(value for other, value in cells if other == axis),
            points=tuple(
                AxisPoint(entrant=entrant, value=value, accuracy=_accuracy(entrant, keys))
                for entrant in field
                for (other, value), keys in cells.items()
                if other == axis
            ),
            gains=tuple(gain for other, gain in gains if other == axis),
        )
        for axis in dict.fromkeys(axis for axis, _ in cells)
    )


def _cells(field: Sequence[Entrant]) -> Mapping[tuple[str, AxisValue], list[TaskKey]]:
    """Tasks by axis and value, both sorted."""
    tasks = {key: task for entrant in field for key, task in entrant.tasks.items()}
    found: dict[tuple[str, AxisValue], list[TaskKey]] = {}
    for key, task in tasks.items():
        if (place := _place(task)) is not None:
            found.setdefault(place, []).append(key)
    return {place: found[place] for place in sorted(found, key=lambda place: (place[0], *_order(place[1])))}


def _place(task: Task) -> tuple[str, AxisValue] | None:
    axis, value = task.metadata.get("axis"), task.metadata.get("value")
    if not isinstance(axis, str) or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    return axis, int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def _order(value: AxisValue) -> tuple[bool, float, str]:
    return (True, 0.0, value) if isinstance(value, str) else (False, float(value), "")


def _accuracy(entrant: Entrant, keys: Sequence[TaskKey]) -> Interval:
    return mean_interval(entrant.task_means([key for key in keys if key in entrant.scored]))
