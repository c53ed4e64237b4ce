"""Example attempts for a report: a few that differ in kind, drawn by a seed and not by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from mas_orchestra import seeds
from mas_orchestra.evaluate.entrants import Entrant, TaskKey
from mas_orchestra.evaluate.results import Attempt
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["Example", "choose_examples"]

COUNT = 5
_KINDS = (
    "right where the reference is wrong",
    "wrong where the reference is right",
    "right, and so is the reference",
    "wrong, and so is the reference",
    "no valid plan",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One attempt and what kind of attempt it is, in words."""

    kind: str
    entrant: Entrant
    task: Task
    attempt: Attempt


def choose_examples(field: Sequence[Entrant], *, count: int = COUNT) -> tuple[Example, ...]:
    """One of each kind where there is one, then others; of multi-agent systems unless there are only single agents."""
    multi = [one for one in field if not one.info.is_single_agent] or list(field)
    by_label = {one.label: one for one in field}
    candidates = [one for entrant in multi for one in _examples(entrant, by_label.get(entrant.reference or ""))]
    seeds.rng("examples", *(one.label for one in multi)).shuffle(candidates)
    first: dict[str, Example] = {}
    for one in candidates:
        first.setdefault(one.kind, one)
    chosen = [first[kind] for kind in _KINDS if kind in first]
    others = [one for one in candidates if not any(one is taken for taken in chosen)]
    others.sort(key=lambda one: one.attempt.score is None)  # stable: errors last
    return tuple([*chosen, *others][:count])


def _examples(entrant: Entrant, reference: Entrant | None) -> Iterator[Example]:
    for key, attempts in entrant.attempts.items():
        for attempt in attempts:
            kind = _kind(attempt, key, reference)
            yield Example(kind=kind, entrant=entrant, task=entrant.tasks[key], attempt=attempt)


def _kind(attempt: Attempt, key: TaskKey, reference: Entrant | None) -> str:
    if attempt.score is None:
        return "without a score"
    if attempt.status is OutcomeStatus.INVALID_PLAN:
        return _KINDS[4]
    is_right = attempt.score >= 1
    if reference is None or key not in reference.scored:
        return "right" if is_right else "wrong"
    is_reference_right = fmean(one.score or 0.0 for one in reference.scored[key]) >= 0.5
    if is_right == is_reference_right:
        return _KINDS[2] if is_right else _KINDS[3]
    return _KINDS[0] if is_right else _KINDS[1]
