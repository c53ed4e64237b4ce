"""One attempt on its way to the store: its key, and what is kept of its outcome."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from mas_orchestra import seeds
from mas_orchestra.evaluate.results import Attempt
from mas_orchestra.run.outcome import CallRecord, Outcome
from mas_orchestra.score.base import Score
from mas_orchestra.types import JsonValue

__all__ = ["AttemptKey", "Spent", "all_calls", "attempt_of", "pack", "unpack"]

COMPRESSION = 1
"""Of zlib: prompts repeat, so the quickest level already makes them five times smaller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptKey:
    """What is run once and stored once."""

    system: str
    task_id: str
    attempt: int
    seed: int

    @property
    def run_seed(self) -> int:
        """Seed of the attempt's own draws, on any machine and in any order."""
        return seeds.digest("attempt", self.seed, self.system, self.task_id, self.attempt) % 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What was paid for, whether it led to a score or not.

    Attributes:
        cost_usd: ``None`` as soon as a part of it is unknown.
    """

    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        is_known = self.cost_usd is not None and other.cost_usd is not None
        return Spent(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if is_known else None,
        )

    @classmethod
    def of(cls, outcome: Outcome) -> "Spent":
        """What one run took; replies from our own cache took nothing."""
        paid = sum(call.calls for call in all_calls(outcome) if not call.cached)
        return cls(calls=paid, tokens=outcome.usage.total_tokens, cost_usd=outcome.cost_usd)


def attempt_of(key: AttemptKey, outcome: Outcome, score: Score) -> Attempt:
    """The row of the results that an outcome and its score make."""
    report = outcome.report
    debates = [
        step.details["first_round_unanimous"] for step in outcome.steps if "first_round_unanimous" in step.details
    ]
    return Attempt(
        system=key.system,
        task_id=key.task_id,
        attempt=key.attempt,
        seed=key.seed,
        status=outcome.status,
        answer=outcome.answer,
        score=score.value,
        reason=score.reason,
        parts=score.parts,
        plan=outcome.plan,
        fault_codes=tuple(fault.code.value for fault in outcome.faults),
        agents=tuple(step.agent for step in outcome.plan.steps) if outcome.plan else (),
        width=report.width if report else 0,
        length=report.length if report else 0,
        calls=outcome.calls,
        cached_calls=sum(call.calls for call in all_calls(outcome) if call.cached),
        usage=outcome.usage,
        cost_usd=outcome.cost_usd,
        wall_s=outcome.wall_s,
        critical_path_s=outcome.critical_path_s,
        first_round_unanimous=sum(map(bool, debates)) / len(debates) if debates else None,
    )


def all_calls(outcome: Outcome) -> Iterable[CallRecord]:
    """Every call, planning first, then by step."""
    yield from outcome.planning
    for step in outcome.steps:
        yield from step.calls


def pack(outcome: Outcome) -> bytes:
    """The whole outcome as compressed JSON."""
    try:
        text = _adapter().dump_json(outcome)
    except PydanticSerializationError:
        # Half a surrogate pair in a reply must not cost the whole outcome.
        value: JsonValue = _adapter().dump_python(outcome, mode="json")
        text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    return zlib.compress(text, COMPRESSION)


def unpack(data: bytes) -> Outcome:
    """What `pack` was given."""
    return _adapter().validate_json(zlib.decompress(data))


@cache
def _adapter() -> TypeAdapter[Outcome]:
    return TypeAdapter(Outcome)
