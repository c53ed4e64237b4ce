"""Systems against their references, paired by task, as families of comparisons with one verdict each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mas_orchestra.evaluate.entrants import Entrant, TaskKey
from mas_orchestra.evaluate.statistics import Difference, Interval, cost_ratio, mcnemar_exact, paired_difference
from mas_orchestra.evaluate.verdict import Comparison, Power, Verdict, VerdictKind, power, verdicts
from mas_orchestra.evaluate.wording import bounds, points, ratio

__all__ = ["Paired", "Pairing", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two entrants, and the tasks to compare them on: those of `keys` that both have scored.

    Attributes:
        name: Of this comparison within its family; also names its random draws.
    """

    name: str
    system: Entrant
    reference: Entrant
    keys: Sequence[TaskKey]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """How a system did against its reference.

    Attributes:
        margin: Smallest difference that matters, as a share: 0.02 is two points.
        ratio: Cost of the system over that of the reference on the same tasks; ``None`` when a price is unknown.
        mcnemar_p: Exact McNemar test, before correction; only where both have one attempt a task, right or wrong.
        conclusion: The verdict in words.
    """

    system: Entrant
    reference: Entrant
    difference: Difference
    margin: float
    power: Power
    verdict: Verdict
    ratio: Interval | None
    mcnemar_p: float | None
    conclusion: str

    @property
    def names(self) -> str:
        """Who is compared with whom."""
        return f"{self.system.shown} against {self.reference.shown}"

    @property
    def gain(self) -> str:
        """The difference in points, with its bounds where it has any."""
        difference = self.difference
        if math.isnan(difference.low):
            return points(difference.mean)
        return f"{points(difference.mean)} {bounds(points(difference.low), points(difference.high))}"

    @property
    def evidence(self) -> str:
        """What the conclusion rests on, as a sentence."""
        if self.difference.tasks == 0:
            return "No task was scored for both."
        if self.difference.tasks == 1:
            return f"{self.gain} points on the one task that was scored for both."
        sureness = f"adjusted p {self.verdict.adjusted_p:.2g}"
        return f"{self.gain} points on {self.difference.tasks:,} tasks ({sureness}), {self._price}."

    @property
    def _price(self) -> str:
        if self.ratio is None:
            return "cost unknown"
        return "the reference cost nothing" if math.isnan(self.ratio.mean) else f"{ratio(self.ratio)} the cost"


def compare(family: Sequence[Pairing], *, margin: float) -> tuple[Paired, ...]:
    """Every pairing of a family, the error rate of its verdicts held over the whole family (Holm)."""
    shared = [_shared(pairing) for pairing in family]
    differences = [
        paired_difference(
            pairing.system.task_means(keys),
            pairing.reference.task_means(keys),
            pairing.name,
            pairing.system.info.name,
            pairing.reference.info.name,
        )
        for pairing, keys in zip(family, shared, strict=True)
    ]
    numbered = {str(number): Comparison(difference=one, margin=margin) for number, one in enumerate(differences)}
    ends = verdicts(numbered)
    return tuple(
        _paired(pairing, keys, numbered[name], ends[name])
        for (pairing, keys), name in zip(zip(family, shared, strict=True), numbered, strict=True)
    )


def _shared(pairing: Pairing) -> list[TaskKey]:
    return [key for key in pairing.keys if key in pairing.system.scored and key in pairing.reference.scored]


def _paired(pairing: Pairing, keys: Sequence[TaskKey], comparison: Comparison, verdict: Verdict) -> Paired:
    capacity = power(comparison.difference, margin=comparison.margin)
    return Paired(
        system=pairing.system,
        reference=pairing.reference,
        difference=comparison.difference,
        margin=comparison.margin,
        power=capacity,
        verdict=verdict,
        ratio=_ratio(pairing, keys),
        mcnemar_p=_mcnemar(pairing, keys),
        conclusion=_conclusion(pairing, comparison, capacity, verdict),
    )


def _ratio(pairing: Pairing, keys: Sequence[TaskKey]) -> Interval | None:
    system, reference = pairing.system.task_costs_usd(keys), pairing.reference.task_costs_usd(keys)
    return None if system is None or reference is None else cost_ratio(system, reference, pairing.name)


def _mcnemar(pairing: Pairing, keys: Sequence[TaskKey]) -> float | None:
    pair = (pairing.system, pairing.reference)
    if not keys or any(entrant.attempts_per_task != 1 for entrant in pair):
        return None
    system, reference = (entrant.task_means(keys) for entrant in pair)
    if not (_is_binary(system) and _is_binary(reference)):
        return None
    return mcnemar_exact(int(np.sum(system > reference)), int(np.sum(reference > system)))


def _is_binary(values: NDArray[np.float64]) -> bool:
    return bool(np.all((values == 0) | (values == 1)))


def _conclusion(pairing: Pairing, comparison: Comparison, capacity: Power, verdict: Verdict) -> str:
    tasks = comparison.difference.tasks
    match verdict.kind:
        case VerdictKind.SYSTEM_BETTER:
            return _better(pairing.system, pairing.reference)
        case VerdictKind.REFERENCE_BETTER:
            return _better(pairing.reference, pairing.system)
        case VerdictKind.EQUIVALENT:
            return f"no difference larger than {100 * comparison.margin:g} points"
        case VerdictKind.CANNOT_TELL:
            needed = capacity.tasks_needed
            if needed is None or math.isnan(comparison.difference.deviation):
                return "cannot tell: needs at least 2 tasks scored for both"
            # Enough for the margin on average, yet this sample fell between the verdicts.
            return f"cannot tell: needs {f'about {needed:,}' if needed > tasks else f'more than {tasks:,}'} tasks"


def _better(winner: Entrant, loser: Entrant) -> str:
    """Multi-agent or single-agent where that is what differs, else the winner's name."""
    kinds: Mapping[bool, str] = {True: "single-agent", False: "multi-agent"}
    is_about_kinds = winner.info.is_single_agent != loser.info.is_single_agent
    return f"{kinds[winner.info.is_single_agent] if is_about_kinds else winner.shown} better"
