"""The scorers of a run, by the kind of task."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.models.base import ChatModel
from mas_orchestra.score.base import Scorer
from mas_orchestra.score.choice import ChoiceScorer
from mas_orchestra.score.judge import JudgeScorer
from mas_orchestra.score.masbench import MasbenchScorer
from mas_orchestra.score.math_workers import MathWorkers
from mas_orchestra.score.mathematics import MathematicsScorer
from mas_orchestra.score.text import TextScorer

__all__ = ["Scorers"]


class Scorers:
    """Scorers by task kind; a context that ends their worker processes.

    >>> with Scorers.standard() as scorers:
    ...     scorers["text"].name, "judge" in scorers
    ('text:exact', False)
    """

    def __init__(self, scorers: Mapping[str, Scorer], workers: MathWorkers | None = None) -> None:
        """Scorers by kind; `workers` are closed with them."""
        self._scorers = dict(scorers)
        self._workers = workers

    @classmethod
    def standard(cls, *, judge: ChatModel | None = None, workers: int = 1, time_limit_s: float = 5.0) -> Self:
        """The scorer of every kind that this package knows; of kind ``judge`` only with a model for it.

        Args:
            judge: The model that judges.
            workers: Most processes that check mathematics; none is started before it is needed.
            time_limit_s: For one comparison in such a process.
        """
        pool = MathWorkers(count=workers, time_limit_s=time_limit_s)
        known: dict[str, Scorer] = {
            "choice": ChoiceScorer(),
            "masbench": MasbenchScorer(),
            "mathematics": MathematicsScorer(workers=pool),
            "text": TextScorer(),
        }
        if judge is not None:
            known["judge"] = JudgeScorer(judge)
        return cls(known, pool)

    def using(self, kind: str, scorer: Scorer) -> "Scorers":
        """These scorers with another one for `kind`, as a judge for short texts."""
        return Scorers({**self._scorers, kind: scorer}, self._workers)

    @property
    def names(self) -> dict[str, str]:
        """Kind → name and settings of its scorer; equal names make two runs comparable."""
        return {kind: scorer.name for kind, scorer in sorted(self._scorers.items())}

    def __contains__(self, kind: object) -> bool:
        return kind in self._scorers

    def __getitem__(self, kind: str) -> Scorer:
        if kind in self._scorers:
            return self._scorers[kind]
        if kind == "judge":
            raise UsageError("tasks of kind 'judge' need a model that judges: give Scorers.standard(judge=MODEL)")
        raise UnknownNameError("task kind", kind, self._scorers)

    def close(self) -> None:
        """End the worker processes. Closing twice is allowed."""
        if self._workers is not None:
            self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
