"""The scoreboard of stored runs: accuracy and cost of every system, and verdicts against the reference."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from mas_orchestra.agents.equivalence import answer_key
from mas_orchestra.evaluate.axes import AxisTable, axis_tables
from mas_orchestra.evaluate.comparison import Paired, Pairing, compare
from mas_orchestra.evaluate.entrants import Entrant, differing_settings, entrants
from mas_orchestra.evaluate.results import Attempt, RunResults
from mas_orchestra.evaluate.statistics import Interval, majority_at_k, mean_interval, pass_at_k
from mas_orchestra.types import Usage

__all__ = ["MARGIN", "Scoreboard", "SystemRow", "scoreboard"]

MARGIN = 0.02
"""Two points: the smallest difference that matters unless the caller says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """What one system achieved and what it took.

    Attributes:
        accuracy: Mean of task means over scored attempts.
        average_at_k, pass_at_k, majority_at_k: Over the tasks of which all k attempts are scored; NaN without any.
            An attempt passes with the full score of 1.
        complete_tasks: How many tasks those are.
        scored, errored, missing: Attempts with a score; without one; planned and not in the store.
        cost_usd: Paid for all attempts; ``None`` when any part is unknown.
        attempt_cost_usd: Mean over tasks of the mean cost of a scored attempt; ``None`` likewise, NaN without any.
        calls, cached_calls: LLM calls of all attempts, and those of them that our own cache answered at no cost.
        latency_p50_s, latency_p95_s: Wall time of scored attempts; NaN without any.
        is_on_front: No other system is at least as accurate for less money, or more accurate for the same.
    """

    entrant: Entrant
    accuracy: Interval
    average_at_k: float
    pass_at_k: float
    majority_at_k: float
    complete_tasks: int
    scored: int
    errored: int
    missing: int
    cost_usd: float | None
    attempt_cost_usd: float | None
    usage: Usage
    attempt_tokens: float
    calls: int
    cached_calls: int
    latency_p50_s: float
    latency_p95_s: float
    is_on_front: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoreboard:
    """All that a report says about accuracy and cost.

    Attributes:
        rows: One a system, in the order of the runs.
        comparisons: Every system against its reference, and against the self-consistency that was given its cost: one
            family.
        axes: For MASBENCH, one table an axis; their gains are one family of their own.
        warnings: What a reader must know before trusting the numbers.
    """

    rows: tuple[SystemRow, ...]
    comparisons: tuple[Paired, ...]
    axes: tuple[AxisTable, ...]
    warnings: tuple[str, ...]
    margin: float

    @property
    def is_simulated(self) -> bool:
        """Whether any system is simulated, so that every title has to say so."""
        return any(row.entrant.info.is_simulated for row in self.rows)


def scoreboard(results: Sequence[RunResults], *, margin: float = MARGIN) -> Scoreboard:
    """The scoreboard of these runs.

    Args:
        results: One or more runs; those that differ in tasks, judge or settings are compared all the same, with a
            warning, on the tasks that they share.
        margin: Smallest difference that matters, as a share of one.

    Raises:
        ValueError: `margin` is not above 0.
    """
    if not margin > 0:
        raise ValueError(f"margin is {margin}; it must be above 0, as 0.02 for two points")
    field = entrants(results)
    by_label = {entrant.label: entrant for entrant in field}
    pairs = [(entrant, by_label[entrant.reference]) for entrant in field if entrant.reference is not None]
    every = sorted(
        [*pairs, *((one, by_label[one.matched]) for one in field if one.matched not in {None, one.reference})],
        key=lambda pair: field.index(pair[0]),
    )
    comparisons = compare(
        [Pairing(name="all tasks", system=one, reference=other, keys=tuple(one.attempts)) for one, other in every],
        margin=margin,
    )
    rows = _with_front([_row(entrant) for entrant in field])
    return Scoreboard(
        rows=rows,
        comparisons=comparisons,
        axes=axis_tables(field, pairs, margin=margin),
        warnings=(*differing_settings(results), *_warnings(results, rows)),
        margin=margin,
    )


def _row(entrant: Entrant) -> SystemRow:
    scored = entrant.scored
    keys = list(scored)
    attempts = list(entrant.all_attempts)
    costs = entrant.task_costs_usd(keys)
    counted = [one for attempts in scored.values() for one in attempts]
    complete = [attempts for attempts in scored.values() if len(attempts) >= entrant.attempts_per_task]
    paid = [one.cost_usd for one in attempts if one.cost_usd is not None]
    return SystemRow(
        entrant=entrant,
        accuracy=mean_interval(entrant.task_means(keys)),
        average_at_k=_mean(fmean(_scores(attempts)) for attempts in complete),
        pass_at_k=_mean(_pass(attempts, entrant.attempts_per_task) for attempts in complete),
        majority_at_k=_mean(_majority(attempts) for attempts in complete),
        complete_tasks=len(complete),
        scored=len(counted),
        errored=len(attempts) - len(counted),
        missing=max(0, len(entrant.tasks) * entrant.attempts_per_task - len(attempts)),
        cost_usd=sum(paid) if len(paid) == len(attempts) else None,
        attempt_cost_usd=None if costs is None else _mean(costs.tolist()),
        usage=sum((one.usage for one in attempts), Usage()),
        attempt_tokens=_mean(_mean(one.usage.total_tokens for one in attempts) for attempts in scored.values()),
        calls=sum(one.calls for one in attempts),
        cached_calls=sum(one.cached_calls for one in attempts),
        latency_p50_s=_quantile(counted, 0.5),
        latency_p95_s=_quantile(counted, 0.95),
    )


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return fmean(numbers) if numbers else math.nan


def _scores(attempts: Sequence[Attempt]) -> list[float]:
    return [one.score for one in attempts if one.score is not None]


def _pass(attempts: Sequence[Attempt], k: int) -> float:
    scores = _scores(attempts)
    return pass_at_k(len(scores), sum(score >= 1 for score in scores), k)


def _majority(attempts: Sequence[Attempt]) -> float:
    """Whether the vote of the attempts that have an answer is right; without any answer it is not."""
    answered = [one for one in attempts if one.answer is not None]
    if not answered:
        return 0.0
    keys = [answer_key(one.answer or "") for one in answered]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    # One class is one answer: where a judge wavered between equal answers, most of its verdicts decide.
    passes: dict[Hashable, list[bool]] = {}
    for key, score in zip(keys, _scores(answered), strict=True):
        passes.setdefault(key, []).append(score >= 1)
    return majority_at_k([numbers[key] for key in keys], [fmean(passes[key]) > 0.5 for key in keys])


def _quantile(attempts: Sequence[Attempt], probability: float) -> float:
    return float(np.quantile([one.wall_s for one in attempts], probability)) if attempts else math.nan


def _with_front(rows: Sequence[SystemRow]) -> tuple[SystemRow, ...]:
    placed = [row for row in rows if _cost(row) is not None]
    return tuple(
        replace(row, is_on_front=row in placed and not any(_dominates(other, row) for other in placed)) for row in rows
    )


def _cost(row: SystemRow) -> float | None:
    """Where a row stands on the cost axis; ``None`` where it has no place."""
    cost = row.attempt_cost_usd
    return None if cost is None or math.isnan(cost) else cost


def _dominates(other: SystemRow, row: SystemRow) -> bool:
    first, second = (_cost(other) or 0.0, other.accuracy.mean), (_cost(row) or 0.0, row.accuracy.mean)
    return first != second and first[0] <= second[0] and first[1] >= second[1]


def _warnings(results: Sequence[RunResults], rows: Sequence[SystemRow]) -> Iterator[str]:
    if not any(info.is_reference for run in results for info in run.systems):
        chosen = next((row.entrant.label for row in rows if row.entrant.info.is_single_agent), None)
        yield f"no system is marked as the reference; {f'{chosen!r} is taken' if chosen else 'nothing is compared'}"
    yield from _row_warnings(rows)


def _row_warnings(rows: Sequence[SystemRow]) -> Iterator[str]:
    """One sentence a kind, with the systems that it is about."""
    if unscored := [row.entrant.label for row in rows if not row.scored]:
        yield f"no attempt is scored of {', '.join(unscored)}"
    if missing := _counted((row, row.missing) for row in rows):
        yield f"the run is not finished; planned attempts that are missing: {missing}"
    if errored := _counted((row, row.errored) for row in rows):
        yield f"attempts without a score, which count neither as right nor as wrong: {errored}"
    if cached := _counted((row, row.cached_calls) for row in rows):
        yield f"calls that the response cache answered, so that a fresh run costs more and takes longer: {cached}"


def _counted(counts: Iterable[tuple[SystemRow, int]]) -> str:
    return ", ".join(f"{row.entrant.label} {count:,}" for row, count in counts if count)
