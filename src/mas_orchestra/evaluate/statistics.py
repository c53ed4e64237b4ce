"""How sure a scoreboard is: intervals clustered by task, paired tests, corrections for many of them.

All of it works on *task means*: the mean over a task's scored attempts. Attempts at one task are not independent,
tasks are, so tasks are the unit of every interval and test. An unscored attempt is left out of its task's mean; a task
without any scored attempt is left out altogether, and counted by whoever reports.

Letters of array axes: T tasks, B bootstrap or permutation draws.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mas_orchestra import seeds

__all__ = [
    "CONFIDENCE",
    "Difference",
    "Interval",
    "cost_ratio",
    "holm",
    "majority_at_k",
    "mcnemar_exact",
    "mean_interval",
    "paired_difference",
    "pass_at_k",
]

Floats = NDArray[np.float64]

DRAWS = 10_000
CONFIDENCE = 0.95
_EXACT_FLIPS = 13
"""Up to this many non-zero differences, all 2^T sign patterns are fewer than `DRAWS` and are enumerated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes:
        mean: The estimate; NaN without any task.
        low, high: Bounds; NaN where a single task or none leaves nothing to estimate them from.
        tasks: How many tasks it rests on.
    """

    mean: float
    low: float
    high: float
    tasks: int


def mean_interval(task_means_T: Floats, *, confidence: float = CONFIDENCE) -> Interval:
    """Mean of values in [0, 1] over tasks, with a confidence interval clustered by task.

    The standard error is that of task means, sd / sqrt(T) (Miller 2024, "Adding Error Bars to Evals", section 2.2: the
    clustered error for clusters of equal size). The interval is Wilson's (1927) with the effective sample size
    mean (1 - mean) / SE^2, scaled by (z/t)^2 for T - 1 degrees of freedom (Korn & Graubard 1998; Franco et al. 2019),
    so it stays inside [0, 1] and keeps its coverage near the ends. If all tasks are equal the effective size is T.

    >>> interval = mean_interval(np.array([1.0, 1.0, 0.0, 1.0] * 25))
    >>> round(interval.mean, 2), round(interval.low, 2), round(interval.high, 2)
    (0.75, 0.66, 0.83)
    """
    count = len(task_means_T)
    if count == 0:
        return Interval(mean=math.nan, low=math.nan, high=math.nan, tasks=0)
    mean = float(np.mean(task_means_T))
    if count == 1:
        return Interval(mean=mean, low=math.nan, high=math.nan, tasks=1)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    variance = float(np.var(task_means_T, ddof=1)) / count
    spread = mean * (1 - mean)
    size = spread / variance if variance > 0 and spread > 0 else float(count)
    size *= (z / _student_quantile(0.5 + confidence / 2, count - 1)) ** 2
    centre = (mean + z * z / (2 * size)) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(spread / size + z * z / (4 * size * size))
    return Interval(mean=mean, low=max(0.0, centre - half), high=min(1.0, centre + half), tasks=count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """System minus reference, paired by task.

    Attributes:
        mean: Mean of the per-task differences; NaN without a task in common.
        low, high: 95 % bootstrap interval.
        low_90, high_90: 90 % interval, which decides equivalence.
        p_value: Two-sided, of the sign-flip permutation test.
        deviation: Standard deviation of the per-task differences.
        tasks: Tasks that both have.
    """

    mean: float
    low: float
    high: float
    low_90: float
    high_90: float
    p_value: float
    deviation: float
    tasks: int


def paired_difference(system_T: Floats, reference_T: Floats, *seed: str | int, draws: int = DRAWS) -> Difference:
    """Difference of two systems on the same tasks, task by task.

    Intervals: percentile bootstrap over tasks (Efron & Tibshirani 1993, chapter 13). Test: sign flips of the per-task
    differences, enumerated where there are few and drawn otherwise, then p = (1 + hits) / (1 + draws) (Phipson & Smyth
    2010).
    With fewer than two tasks bounds are NaN and p is 1.

    Args:
        system_T: Task means of the system.
        reference_T: Task means of the reference, same tasks in the same order.
        seed: Names the draws; the same seed gives the same numbers.
        draws: Bootstrap and permutation draws.
    """
    differences_T = system_T - reference_T
    count = len(differences_T)
    mean = float(np.mean(differences_T)) if count else math.nan
    if count < 2:
        nan = math.nan
        return Difference(
            mean=mean, low=nan, high=nan, low_90=nan, high_90=nan, p_value=1.0, deviation=nan, tasks=count
        )
    means_B = _resampled_means(differences_T[:, None], draws, *seed)[:, 0]
    low, low_90, high_90, high = (float(value) for value in np.quantile(means_B, (0.025, 0.05, 0.95, 0.975)))
    return Difference(
        mean=mean,
        low=low,
        high=high,
        low_90=low_90,
        high_90=high_90,
        p_value=_sign_flip_p_value(differences_T, draws, *seed),
        deviation=float(np.std(differences_T, ddof=1)),
        tasks=count,
    )


def cost_ratio(system_T: Floats, reference_T: Floats, *seed: str | int, draws: int = DRAWS) -> Interval:
    """Total cost of a system over that of its reference, with a 95 % bootstrap interval over tasks.

    NaN where the reference cost nothing. Resamples whose reference cost is 0 are left out.
    """
    count = len(system_T)
    total = float(np.sum(reference_T)) if count else 0.0
    if total == 0.0:
        return Interval(mean=math.nan, low=math.nan, high=math.nan, tasks=count)
    ratio = float(np.sum(system_T)) / total
    if count < 2:
        return Interval(mean=ratio, low=math.nan, high=math.nan, tasks=count)
    means_B2 = _resampled_means(np.stack([system_T, reference_T], axis=1), draws, *seed)
    usable_B2 = means_B2[means_B2[:, 1] > 0]
    low, high = (float(value) for value in np.quantile(usable_B2[:, 0] / usable_B2[:, 1], (0.025, 0.975)))
    return Interval(mean=ratio, low=low, high=high, tasks=count)


def mcnemar_exact(only_system: int, only_reference: int) -> float:
    """Two-sided exact p of McNemar's test (1947) for single attempts: a binomial test of the discordant pairs.

    >>> round(mcnemar_exact(8, 1), 4)
    0.0391
    >>> mcnemar_exact(0, 0)
    1.0
    """
    discordant = only_system + only_reference
    tail = sum(math.comb(discordant, count) for count in range(min(only_system, only_reference) + 1))
    return min(1.0, float(2 * tail / 2**discordant))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values that keep the family-wise error rate (Holm 1979), in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        running = max(running, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


def pass_at_k(attempts: int, right: int, k: int) -> float:
    """Chance that at least one of `k` attempts is right, unbiased from `attempts` (Chen et al. 2021, equation 1).

    >>> round(pass_at_k(8, 2, 4), 4)
    0.7857

    Raises:
        ValueError: Fewer than `k` attempts.
    """
    if not 1 <= k <= attempts:
        raise ValueError(f"pass@{k} needs at least {k} scored attempts, there are {attempts}")
    return 1.0 - math.comb(attempts - right, k) / math.comb(attempts, k)


def majority_at_k(votes: Sequence[int], right: Sequence[bool]) -> float:
    """Whether a vote of all attempts is right; ties count by their share of right winners.

    Args:
        votes: Class of each attempt's answer (equal answers, equal numbers).
        right: Whether each attempt is right.
    """
    if not votes:
        return math.nan
    sizes = {vote: votes.count(vote) for vote in votes}
    top = max(sizes.values())
    is_right = dict(zip(votes, right, strict=True))
    winners = [vote for vote, size in sizes.items() if size == top]
    return sum(is_right[vote] for vote in winners) / len(winners)


def _resampled_means(values_TK: Floats, draws: int, *seed: str | int) -> Floats:
    """Column means of `draws` samples of T rows with replacement (draws × columns), in blocks of bounded memory."""
    rng = np.random.default_rng(seeds.digest("bootstrap", *seed))
    count = len(values_TK)
    block = max(1, 4_000_000 // count)
    parts = [
        values_TK[rng.integers(count, size=(min(block, draws - start), count))].mean(axis=1)
        for start in range(0, draws, block)
    ]
    return np.concatenate(parts)


def _sign_flip_p_value(differences_T: Floats, draws: int, *seed: str | int) -> float:
    nonzero = differences_T[differences_T != 0]
    if not len(nonzero):
        return 1.0
    observed = abs(float(nonzero.sum())) * (1 - 1e-12)  # equal sums must count as equal whatever their rounding
    if len(nonzero) <= _EXACT_FLIPS:
        patterns = (np.arange(2 ** len(nonzero))[:, None] >> np.arange(len(nonzero))) & 1
        return float(np.mean(np.abs((2 * patterns - 1) @ nonzero) >= observed))
    rng = np.random.default_rng(seeds.digest("sign flips", *seed))
    block = max(1, 4_000_000 // len(nonzero))
    hits = 0
    for start in range(0, draws, block):
        signs = rng.integers(2, size=(min(block, draws - start), len(nonzero)), dtype=np.int8) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ nonzero) >= observed))
    return (1 + hits) / (1 + draws)


def _student_quantile(probability: float, freedom: int) -> float:
    from scipy.stats import t

    return float(t.ppf(probability, freedom))
