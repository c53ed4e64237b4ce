"""What a run will take, before it takes anything: calls, tokens and dollars, expected and at worst.

Calls of a fixed system follow from its sub-agents' cards; replies that cannot be read are asked for again on top.
Plans that are not written yet are reckoned as one plan call, one chain of thought and one self-consistency. Tokens are
estimated from the questions and `expected_reply_tokens`; a worst case is only given where limits make one. What is not
known is ``None``, never 0. Every cap binds whatever the estimate says.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from mas_orchestra.errors import BudgetError, PriceUnknownError
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.evaluate.config import EvalConfig, RunCaps
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.models.tokens import estimate_tokens
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import Usage

__all__ = ["Estimate", "SystemEstimate", "check_caps", "estimate"]

PROMPT_TOKENS = 150
"""Of a sub-agent's own prompt, around the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEstimate:
    """What the attempts of one system, or of all, will take.

    Attributes:
        attempts: How many are still to be made.
        calls, tokens, cost_usd: Expected.
        worst_calls, worst_tokens, worst_cost_usd: At worst.
    """

    system: str
    attempts: int
    calls: float | None
    worst_calls: int | None
    tokens: float | None
    worst_tokens: int | None
    cost_usd: float | None
    worst_cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a run will take, by system and in all."""

    systems: tuple[SystemEstimate, ...]
    total: SystemEstimate


def estimate(
    config: EvalConfig, contenders: Sequence[Contender], tasks: Sequence[Task], left: dict[str, int]
) -> Estimate:
    """The estimate; `left` is the number of attempts still to be made, by system."""
    question = fmean(estimate_tokens(task.question) for task in tasks) if tasks else 0.0
    found: dict[str, SystemEstimate] = {}
    for one in contenders:
        count = left.get(one.name, 0)
        if one.reads is None:
            found[one.name] = _of_system(config, one, count, question)
    for one in contenders:
        if one.reads is not None:
            found[one.name] = _like(found[one.reads], one.name, left.get(one.name, 0))
    ordered = tuple(found[one.name] for one in contenders)
    return Estimate(systems=ordered, total=_sum(ordered))


def _of_system(config: EvalConfig, one: Contender, count: int, question: float) -> SystemEstimate:
    prompt = question + PROMPT_TOKENS
    calls = one.expected_calls
    usage = (
        None
        if calls is None
        else Usage(input_tokens=round(calls * prompt), output_tokens=round(calls * config.expected_reply_tokens))
    )
    cost = None if usage is None else one.runtime.model.cost_usd(usage)
    worst_tokens = config.limits.max_tokens
    worst_cost = config.limits.max_cost_usd
    if worst_cost is None and worst_tokens is not None:
        worst_cost = one.runtime.model.cost_usd(Usage(output_tokens=worst_tokens))
    return SystemEstimate(
        system=one.name,
        attempts=count,
        calls=None if calls is None else calls * count,
        worst_calls=None if one.worst_calls is None else one.worst_calls * count,
        tokens=None if usage is None else usage.total_tokens * count,
        worst_tokens=None if worst_tokens is None else worst_tokens * count,
        cost_usd=None if cost is None else cost * count,
        worst_cost_usd=None if worst_cost is None else worst_cost * count,
    )


def _like(other: SystemEstimate, name: str, count: int) -> SystemEstimate:
    """A matched-cost baseline takes what the other system takes."""
    share = count / other.attempts if other.attempts else 0.0

    def part(value: float | None) -> float | None:
        return None if value is None else value * share

    return SystemEstimate(
        system=name,
        attempts=count,
        calls=part(other.calls),
        worst_calls=None,
        tokens=part(other.tokens),
        worst_tokens=None,
        cost_usd=part(other.cost_usd),
        worst_cost_usd=None,
    )


def _sum(parts: Sequence[SystemEstimate]) -> SystemEstimate:
    """All systems together; unknown as soon as one is."""
    return SystemEstimate(
        system="all",
        attempts=sum(part.attempts for part in parts),
        calls=_total([part.calls for part in parts]),
        worst_calls=_whole([part.worst_calls for part in parts]),
        tokens=_total([part.tokens for part in parts]),
        worst_tokens=_whole([part.worst_tokens for part in parts]),
        cost_usd=_total([part.cost_usd for part in parts]),
        worst_cost_usd=_total([part.worst_cost_usd for part in parts]),
    )


def _total(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _whole(values: Sequence[int | None]) -> int | None:
    total = _total(values)
    return None if total is None else int(total)


def check_caps(
    caps: RunCaps, spent: Spent, found: Estimate, contenders: Sequence[Contender], *, stop_at_cap: bool
) -> None:
    """Refuse, before the first call, a run that cannot keep its caps.

    Args:
        caps: The caps.
        spent: What earlier starts of the run took.
        found: What is still to come.
        contenders: For the prices of their models.
        stop_at_cap: Begin all the same, and stop cleanly when a cap is reached.

    Raises:
        PriceUnknownError: A money cap, no token cap, and a model without a known price.
        BudgetError: The estimate is over a cap.
    """
    _refuse_unpriced(caps, contenders)
    if stop_at_cap:
        return
    total = found.total
    for limit, cap, used, expected, worst, form in (
        ("calls", caps.max_calls, spent.calls, total.calls, total.worst_calls, "{:,.0f} calls"),
        ("tokens", caps.max_tokens, spent.tokens, total.tokens, total.worst_tokens, "{:,.0f} tokens"),
        ("cost_usd", caps.max_cost_usd, spent.cost_usd or 0.0, total.cost_usd, total.worst_cost_usd, "${:,.4f}"),
    ):
        over = [value for value in (expected, worst) if cap is not None and value is not None and used + value > cap]
        if cap is not None and over:
            shown = [form.format(value) if value is not None else "unknown" for value in (expected, worst)]
            raise BudgetError(
                limit,
                f"the run would pass its cap of {form.format(cap)}: expected {shown[0]}, at worst {shown[1]}, "
                f"spent so far {form.format(used)}. Nothing was asked. Raise the cap, take fewer tasks or attempts, "
                "or begin with --stop-at-cap, which stops cleanly when the cap is reached.",
            )


def _refuse_unpriced(caps: RunCaps, contenders: Sequence[Contender]) -> None:
    if caps.max_cost_usd is None or caps.max_tokens is not None:
        return
    models = {model for one in contenders for model in one.runtime.all_models}
    unpriced = sorted(model.uri for model in models if model.cost_usd(Usage()) is None)
    if unpriced:
        raise PriceUnknownError(
            f"a cost cap of ${caps.max_cost_usd} cannot be kept: no price is known for {', '.join(unpriced)}. "
            "Give a token cap as well (--max-tokens), or put the price under [prices]."
        )
