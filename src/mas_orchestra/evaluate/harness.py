"""The evaluation loop: every system, every task, k attempts; each is run once and stored once.

1. Work is a stream of chains: a system's attempt at a task, then the matched-cost baselines that need to know its cost.
2. `concurrency` workers take chains from one iterator, so nothing is held in memory but what is in flight.
3. An attempt ends in the store, in one transaction, before its worker takes the next one.
4. What has a score is never run again. What has none is run again, or only scored again where the run itself was whole.
5. Whatever ends the run early (a cap, broken endpoints, Ctrl-C) leaves a store that the next start goes on from.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from mas_orchestra.errors import CallError, EndpointError, MasError
from mas_orchestra.evaluate.attempt import AttemptKey, Spent
from mas_orchestra.evaluate.attempt_runtime import in_namespace, with_models
from mas_orchestra.evaluate.caps import CappedModel, RunBudget
from mas_orchestra.evaluate.contenders import Contender
from mas_orchestra.evaluate.progress import Ended, Watch
from mas_orchestra.evaluate.solving import UNTRIED, Unit, answer, total_spent, unscored_as, void
from mas_orchestra.evaluate.store import Price, Store
from mas_orchestra.evaluate.store_engine import StoreError
from mas_orchestra.run import Outcome, Runtime
from mas_orchestra.run.events import Event, RunFinished
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus

__all__ = ["UNTRIED", "Ending", "Evaluation", "Scoring"]

Scoring: TypeAlias = Callable[[Task, Outcome], Awaitable[Score]]
"""What an outcome is worth, as `mas_orchestra.score.score` with its scorers."""

Result = TypeVar("Result")

BROKEN = frozenset({OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED})
"""Ends after which an attempt is run again rather than scored again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How one start of a run ended.

    Attributes:
        stopped: Why it ended before its time; ``None`` when everything was tried.
        unscored: Attempts that are stored without a score, or could not be tried because another one has none.
        is_capped: Whether a cap on calls, tokens or money stopped it.
    """

    stopped: str | None
    unscored: int
    is_capped: bool = False


class Evaluation:
    """One start of a run in one process.

    Args:
        store: Where attempts go; the run is in it already.
        contenders: The systems, each matched-cost baseline after the system that it reads.
        tasks: What they are asked here; another process may have the others.
        attempts: Attempts of each system at each task.
        seed: Of the run.
        score: What an outcome is worth.
        budget: What may still be used.
        watch: Told of every attempt.
        concurrency: Attempts in flight.
        stop_after_errors: Broken attempts in a row that end the run.
        max_time_s: Seconds after which everything in flight is cancelled.
    """

    def __init__(
        self,
        *,
        store: Store,
        contenders: Sequence[Contender],
        tasks: Sequence[Task],
        attempts: int,
        seed: int,
        score: Scoring,
        budget: RunBudget,
        watch: Watch,
        concurrency: int = 32,
        stop_after_errors: int = 25,
        max_time_s: float | None = None,
    ) -> None:
        self._store = store
        self._contenders = contenders
        self._tasks = tasks
        self._attempts = attempts
        self._seed = seed
        self._score_outcome = score
        self._budget = budget
        self._watch = watch
        self._concurrency = concurrency
        self._stop_after_errors = stop_after_errors
        self._max_time_s = max_time_s
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._scored: set[AttemptKey] = set()
        self._stored: dict[AttemptKey, bool] = {}
        self._stopped: str | None = None
        self._errors_in_a_row = 0
        self._unscored = 0

    async def run(self) -> Ending:
        """Try everything that has no score yet.

        Raises:
            StoreError: The store cannot be written; what it holds is safe.
            UsageError: A system cannot run as it is configured.
            asyncio.CancelledError: From outside; what was spent on attempts in flight is stored.
        """
        self._scored = self._store.scored()
        self._stored = {
            one.key: one.status not in BROKEN and one.reason not in UNTRIED for one in self._store.unscored()
        }
        try:
            async with asyncio.timeout(self._max_time_s) as limit:
                await self._work_off(self._chains())
        except TimeoutError:
            if not limit.expired():
                raise
            self._stopped = f"the time cap of {self._max_time_s:g} s is reached"
        finally:
            self._writer.shutdown()
        reached = self._budget.reached
        return Ending(stopped=self._stopped or reached, unscored=self._unscored, is_capped=reached is not None)

    def _chains(self) -> Iterator[list[Unit]]:
        """Attempts in an order in which a run that is cut short compares all systems on the same tasks."""
        chains = _chained(self._contenders)
        for attempt in range(self._attempts):
            for task in self._tasks:
                for chain in chains:
                    yield [
                        Unit(
                            contender=one,
                            task=task,
                            key=AttemptKey(system=one.name, task_id=task.id, attempt=attempt, seed=self._seed),
                        )
                        for one in chain
                    ]

    async def _work_off(self, chains: Iterator[list[Unit]]) -> None:
        async def work() -> None:
            for chain in chains:  # shared by all workers
                for unit in chain:
                    if self._stopped or self._budget.reached:
                        return
                    await self._settle(unit)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._concurrency):
                    group.create_task(work())
        except BaseExceptionGroup as stops:
            raise _first(stops) from None

    async def _settle(self, unit: Unit) -> None:
        """See to it that an attempt has a score, if it can have one now."""
        if unit.key in self._scored:
            return
        if self._stored.get(unit.key, False):
            outcome = await self._in_thread(self._store.outcome, unit.key)
            score = await self._score(unit.task, outcome)
            await self._in_thread(self._store.rescore, [(unit.key, score)])
            self._note(unit, outcome, score)
            return
        price = None
        if unit.contender.reads is not None:
            other = replace(unit.key, system=unit.contender.reads)
            price = await self._in_thread(self._store.price, other)
            if price is None:
                self._unscored += 1
                return
        if self._store.is_shared and await self._in_thread(self._store.price, unit.key) is not None:
            return  # another machine was quicker
        self._watch.started(unit.contender.name)
        await self._attempt(unit, price)

    async def _attempt(self, unit: Unit, price: Price | None) -> None:
        ends: list[Outcome] = []
        runtime = self._runtime(unit.contender.runtime, unit.key, ends)
        try:
            outcome = await answer(unit, runtime, price)
        except BaseException:
            self._watch.aborted(unit.contender.name)
            if ends:
                with suppress(StoreError):  # the store's own failure has ended the run already, and is what is reported
                    self._store.add(unit.key, ends[-1], unscored_as(ends[-1]), spent=total_spent(ends))
            raise
        score = void(outcome, ends) or await self._score(unit.task, outcome)
        await self._keep(unit, outcome, score, total_spent(ends) if ends else Spent.of(outcome))

    def _runtime(self, runtime: Runtime, key: AttemptKey, ends: list[Outcome]) -> Runtime:
        """The runtime of one attempt; `ends` gets the outcome of every run in it, cancelled ones included."""

        def listen(event: Event) -> None:
            if isinstance(event, RunFinished):
                ends.append(event.outcome)

        own = in_namespace(runtime, f"{key.system}/{key.attempt}/{key.seed}")
        own = with_models(own, lambda model: CappedModel(model, self._budget))
        return replace(own, seed=key.run_seed, listeners=(listen, *runtime.listeners))

    async def _score(self, task: Task, outcome: Outcome) -> Score:
        """The score, or none where what scores is broken itself."""
        try:
            return await self._score_outcome(task, outcome)
        except (EndpointError, CallError) as error:
            return Score(value=None, reason=error.code, details={"message": str(error)})

    async def _keep(self, unit: Unit, outcome: Outcome, score: Score, spent: Spent) -> None:
        await self._in_thread(lambda: self._store.add(unit.key, outcome, score, spent=spent))
        self._note(unit, outcome, score)

    def _note(self, unit: Unit, outcome: Outcome, score: Score) -> None:
        """Tell the watch, and see whether the endpoint is down."""
        ended = Ended(
            system=unit.contender.name,
            score=score.value,
            cost_usd=outcome.cost_usd,
            is_new=unit.key not in self._stored,
        )
        self._watch.ended(ended)
        if score.value is not None:
            self._errors_in_a_row = 0
            return
        self._unscored += 1
        if outcome.status is OutcomeStatus.ENDPOINT_ERROR:
            self._errors_in_a_row += 1
            if self._errors_in_a_row >= self._stop_after_errors:
                why = outcome.failure.message if outcome.failure else outcome.status.value
                self._stopped = (
                    self._stopped
                    or f"{self._errors_in_a_row} attempts in a row met a broken endpoint; the last one: {why}"
                )

    async def _in_thread(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Whatever touches the database waits outside of the event loop, one at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, call, *arguments)


def _chained(contenders: Sequence[Contender]) -> list[list[Contender]]:
    """Each system with the baselines that read its cost behind it."""
    chains = {one.name: [one] for one in contenders if one.reads is None}
    for one in contenders:
        if one.reads is not None:
            chains[one.reads].append(one)
    return list(chains.values())


def _first(stops: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error that says by itself what to do; a group with anything else in it is a bug and stays whole."""
    ours, others = stops.split(MasError)
    return stops if others or ours is None else ours.exceptions[0]
