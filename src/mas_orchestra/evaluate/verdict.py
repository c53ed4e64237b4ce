"""How a comparison ends: one of four verdicts with its reason, and what the sample could have shown."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

from mas_orchestra.evaluate.statistics import CONFIDENCE, Difference, holm

__all__ = ["Comparison", "Power", "Verdict", "VerdictKind", "power", "verdicts"]

POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a sample can show.

    Attributes:
        smallest_difference: Difference that would be found with 80 % power at 5 %; NaN with fewer than two tasks.
        tasks_needed: Tasks for that power at the margin asked for; ``None`` likewise.
    """

    smallest_difference: float
    tasks_needed: int | None


def power(difference: Difference, *, margin: float) -> Power:
    """Power of a paired comparison under the normal approximation.

    n = ((z_0.975 + z_0.8) sd / margin)^2 (Miller 2024, section 5; Chow, Shao & Wang 2008, section 3.1.1). Where all
    tasks differ by the same, the rule of three stands in: 3 / n of them may still behave otherwise (Hanley &
    Lippman-Hand 1983).
    """
    if difference.tasks < 2:
        return Power(smallest_difference=math.nan, tasks_needed=None)
    if difference.deviation == 0:
        return Power(smallest_difference=min(1.0, 3 / difference.tasks), tasks_needed=math.ceil(3 / margin))
    reach = (NormalDist().inv_cdf(0.5 + CONFIDENCE / 2) + NormalDist().inv_cdf(POWER)) * difference.deviation
    return Power(
        smallest_difference=reach / math.sqrt(difference.tasks),
        tasks_needed=math.ceil((reach / margin) ** 2),
    )


class VerdictKind(StrEnum):
    """The four ends of a comparison."""

    SYSTEM_BETTER = "multi-agent better"
    REFERENCE_BETTER = "single-agent better"
    EQUIVALENT = "no difference larger than the margin"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A comparison's end and its reason in words."""

    kind: VerdictKind
    reason: str
    adjusted_p: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One member of a family of comparisons; `margin` is the smallest difference that matters."""

    difference: Difference
    margin: float


def verdicts(family: Mapping[str, Comparison]) -> dict[str, Verdict]:
    """One verdict a comparison, with the family-wise error rate of "better" held at 5 % (Holm).

    Better: adjusted p below 0.05, on the side of the mean. Equivalent: the 90 % interval lies inside the margin, which
    is the two one-sided tests at 5 % (Schuirmann 1987); where all tasks differ by the same the interval is a point, and
    there must be enough of them by the rule of three. Otherwise: cannot tell, and how many tasks it would take.
    """
    adjusted = holm([comparison.difference.p_value for comparison in family.values()])
    return {name: _verdict(comparison, p) for (name, comparison), p in zip(family.items(), adjusted, strict=True)}


def _verdict(comparison: Comparison, adjusted_p: float) -> Verdict:
    difference, margin = comparison.difference, comparison.margin
    points = f"{100 * difference.mean:+.1f} points [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"
    if adjusted_p < 1 - CONFIDENCE:
        kind = VerdictKind.SYSTEM_BETTER if difference.mean > 0 else VerdictKind.REFERENCE_BETTER
        return Verdict(kind=kind, reason=f"{points}, adjusted p = {adjusted_p:.2g}", adjusted_p=adjusted_p)
    needed = power(difference, margin=margin).tasks_needed
    is_thin = needed is None or (difference.deviation == 0 and difference.tasks < needed)
    if not is_thin and -margin < difference.low_90 and difference.high_90 < margin:
        reason = f"{points}; the 90 % interval lies within ±{100 * margin:g} points"
        return Verdict(kind=VerdictKind.EQUIVALENT, reason=reason, adjusted_p=adjusted_p)
    how_many = f"needs about {needed:,} tasks" if needed else "needs at least 2 tasks that both have scored"
    return Verdict(
        kind=VerdictKind.CANNOT_TELL,
        reason=f"{points} on {difference.tasks} tasks; a difference of {100 * margin:g} points {how_many}",
        adjusted_p=adjusted_p,
    )
