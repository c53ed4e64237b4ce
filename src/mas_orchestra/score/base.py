"""What a score is, and what gives one."""

from dataclasses import dataclass, field
from typing import Protocol

from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue, OutcomeStatus

__all__ = ["Answered", "Score", "Scorer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How right an answer is.

    Attributes:
        value: In [0, 1], or ``None`` where nothing can be said (a broken endpoint, a verdict that cannot be read): an
            unscored attempt counts neither as right nor as wrong.
        reason: Why, in a stable word: ``"right"``, ``"wrong"``, ``"no_answer"``, ``"endpoint_error"``, …
        parts: Named components, as ``{"answer_accuracy": 0.5, "format_ok": 1.0}``.
        details: Facts for people and for scoring again: what was read, by which rule, by which judge.
    """

    value: float | None
    reason: str
    parts: dict[str, float] = field(default_factory=dict)
    details: dict[str, JsonValue] = field(default_factory=dict)


class Answered(Protocol):
    """What a scorer needs of an outcome; `mas_orchestra.run.Outcome` is one."""

    @property
    def status(self) -> OutcomeStatus:
        """How the run ended."""
        ...

    @property
    def answer(self) -> str | None:
        """The answer, ``None`` unless the status is `answered`."""
        ...


class Scorer(Protocol):
    """Scores the answers to tasks of one kind."""

    @property
    def name(self) -> str:
        """Name and settings in one word for the store, as ``"mathematics"``; part of what makes two runs comparable."""
        ...

    async def score(self, task: Task, answer: str) -> Score:
        """How right `answer` is. Only called with an answer; runs without one are scored by their status."""
        ...
