"""One start of a run: everything is opened, checked and estimated, then worked off in this process or in several."""

import dataclasses
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version

from mas_orchestra.config import read_config
from mas_orchestra.errors import ConfigError, FileFormatError, UsageError
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.evaluate.caps import RunBudget, RunCapError
from mas_orchestra.evaluate.config import EvalConfig, RunCaps, differences, to_toml
from mas_orchestra.evaluate.contenders import Contender, build_contenders
from mas_orchestra.evaluate.estimate import Estimate, check_caps, estimate
from mas_orchestra.evaluate.facts import VERSION_FACT, gather_facts
from mas_orchestra.evaluate.harness import Ending, Evaluation, Scoring
from mas_orchestra.evaluate.models_of_run import OpenModels
from mas_orchestra.evaluate.plan_scorers import PlanScorer
from mas_orchestra.evaluate.preparation import prepare, restore
from mas_orchestra.evaluate.progress import Tallies, Tally, Watch
from mas_orchestra.evaluate.results import SystemInfo
from mas_orchestra.evaluate.run_folder import RunFolder
from mas_orchestra.evaluate.store import RunHead, Store
from mas_orchestra.models.base import ChatModel
from mas_orchestra.run import Limits, Outcome
from mas_orchestra.score.base import Score
from mas_orchestra.score.registry import Scorers
from mas_orchestra.score.scoring import score as score_outcome
from mas_orchestra.tasks.load import load_tasks
from mas_orchestra.tasks.task import Task
from mas_orchestra.tasks.task_set import TaskSet

__all__ = ["Desk", "Shard", "load_sets", "open_desk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Which tasks one process works on: every `count`-th, beginning with `index`."""

    index: int = 0
    count: int = 1

    def of(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Its part of the tasks; a task's attempts stay together, since baselines read each other's cost."""
        return tasks[self.index :: self.count]

    def split(self, workers: int) -> list["Shard"]:
        """The same part, split again."""
        count = self.count * workers
        return [Shard(index=self.index + self.count * worker, count=count) for worker in range(workers)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A run that is open: all that a start of it needs.

    Attributes:
        store: The run is in it.
        tasks: As they were when the run began.
        score: What an outcome is worth.
        scorers: Names of the scorers by kind of task.
    """

    config: EvalConfig
    store: Store
    models: OpenModels
    contenders: tuple[Contender, ...]
    tasks: tuple[Task, ...]
    score: Scoring
    scorers: Mapping[str, str]

    def tallies(self) -> Tallies:
        """Counts of what is stored already."""
        found = {one.name: Tally(total=len(self.tasks) * self.config.attempts) for one in self.contenders}
        for system, tally in self.store.tallies().items():
            tally.total = found[system].total
            found[system] = tally
        return Tallies(found)

    def estimate(self) -> Estimate:
        """What is still to come."""
        scored = Counter(key.system for key in self.store.scored())
        whole = len(self.tasks) * self.config.attempts
        left = {one.name: whole - scored[one.name] for one in self.contenders}
        return estimate(self.config, self.contenders, self.tasks, left)

    def check_caps(self, *, stop_at_cap: bool) -> None:
        """Refuse a run that cannot keep its caps; see `estimate.check_caps`."""
        check_caps(self.config.caps, self.store.spent(), self.estimate(), self.contenders, stop_at_cap=stop_at_cap)

    def budget(self, caps: RunCaps, spent: Spent) -> RunBudget:
        """What all attempts may use together."""
        limits = Limits(max_calls=caps.max_calls, max_tokens=caps.max_tokens, max_cost_usd=caps.max_cost_usd)
        return RunBudget(limits, spent)

    async def prepare(self, budget: RunBudget) -> None:
        """Let systems find out what they need once."""
        names = {one.name for one in self.contenders}
        if self.config.validation and any(name.startswith("workflow_search") for name in names):
            validation = _disjoint(load_sets(self.config, self.config.validation), self.tasks)
            await prepare(
                self.contenders,
                store=self.store,
                validation=validation,
                score=self.score,
                budget=budget,
                seed=self.config.seed,
                concurrency=self.config.concurrency,
            )
        restore(self.contenders, self.store, attempts=len(self.tasks) * self.config.attempts)

    async def work(self, watch: Watch, budget: RunBudget, shard: Shard | None = None) -> Ending:
        """Try everything of the shard that has no score yet, in this process."""
        try:
            await self.prepare(budget)
        except RunCapError as error:
            return Ending(stopped=str(error), unscored=0, is_capped=True)
        evaluation = Evaluation(
            store=self.store,
            contenders=self.contenders,
            tasks=(shard or Shard()).of(self.tasks),
            attempts=self.config.attempts,
            seed=self.config.seed,
            score=self.score,
            budget=budget,
            watch=watch,
            concurrency=self.config.concurrency,
            stop_after_errors=self.config.stop_after_errors,
            max_time_s=self.config.caps.max_time_s,
        )
        return await evaluation.run()


def open_desk(
    folder: RunFolder,
    config: EvalConfig,
    *,
    stack: ExitStack,
    tasks: Sequence[TaskSet] | None = None,
    models: Mapping[str, ChatModel] | None = None,
    scorer: PlanScorer | None = None,
    any_release: bool = False,
) -> Desk:
    """A run ready to be worked on: made if it is new, gone on with if it is not.

    Args:
        folder: Its folder, begun with `RunFolder.begin`.
        config: Its configuration.
        stack: Closes store and scorers.
        tasks: Task sets of a new run that are loaded already; else those of the configuration.
        models: Models that a program made, by the URI that the configuration has for them.
        scorer: Picks the plan of ``best_of:N``.
        any_release: For what adds no attempts: take a run that another release began.

    Raises:
        UsageError: The configuration cannot be used, or the run is of another one or of another release.
    """
    opened = OpenModels(config, models or {})
    contenders = build_contenders(config, opened, scorer=scorer)
    scorers = stack.enter_context(Scorers.standard(judge=opened.open(config.judge) if config.judge else None))
    store = stack.enter_context(folder.store(config))
    if not store.exists():
        _create(store, config, tasks, contenders, scorers)
    _refuse_other_run(folder, config, store, any_release=any_release)
    return Desk(
        config=config,
        store=store,
        models=opened,
        contenders=contenders,
        tasks=store.tasks(),
        score=_scoring(scorers),
        scorers=scorers.names,
    )


def _create(
    store: Store,
    config: EvalConfig,
    tasks: Sequence[TaskSet] | None,
    contenders: Sequence[Contender],
    scorers: Scorers,
) -> None:
    sets = load_sets(config, config.tasks) if tasks is None else tasks
    head = RunHead(
        name=store.run,
        config=to_toml(config),
        systems=_infos(config, contenders),
        attempts_per_task=config.attempts,
        facts=gather_facts(config, sets, contenders, scorers.names),
    )
    store.create(head, _all_tasks(sets, scorers))


def load_sets(config: EvalConfig, specs: Sequence[str]) -> list[TaskSet]:
    """The task sets that specs name, each at most as long as the configuration allows."""
    if not specs:
        raise ConfigError('no tasks: give --tasks SPEC, or tasks = ["SPEC"] in the evaluation\'s file')
    return [load_tasks(spec, limit=config.max_tasks, seed=config.seed) for spec in specs]


def _all_tasks(sets: Sequence[TaskSet], scorers: Scorers) -> list[Task]:
    """All tasks, their ids made unique by the set's name where several sets have the same."""
    found: dict[str, Task] = {}
    for number, one in enumerate(sets, start=1):
        for task in one.tasks:
            name = task.id if task.id not in found else f"{one.name}#{number}/{task.id}"
            if name in found:
                raise UsageError(f"tasks {one.name}: two tasks have the id {task.id!r}")
            found[name] = dataclasses.replace(task, id=name)
            if task.kind:
                _ = scorers[task.kind]  # a kind that nobody can score is found out before anything is spent
    if not found:
        raise FileFormatError("the task sets hold no task")
    return list(found.values())


def _disjoint(validation: Sequence[TaskSet], tasks: Sequence[Task]) -> list[Task]:
    """The validation tasks, none of which the evaluation asks."""
    asked = {task.question for task in tasks}
    found = [task for one in validation for task in one.tasks]
    if shared := [task.id for task in found if task.question in asked]:
        raise ConfigError(
            f"{len(shared)} validation tasks are asked in the evaluation too, as {shared[0]!r}; split them"
        )
    return found


def _infos(config: EvalConfig, contenders: Sequence[Contender]) -> tuple[SystemInfo, ...]:
    names = [one.name for one in contenders]
    single = next((one.name for one in contenders if one.is_single_agent and one.reads is None), names[0])
    reference = " ".join(config.reference.split()) if config.reference else single
    if reference not in names:
        raise ConfigError(f"reference {reference!r} is none of the systems: {', '.join(names)}")
    return tuple(one.info(is_reference=one.name == reference) for one in contenders)


def _refuse_other_run(folder: RunFolder, config: EvalConfig, store: Store, *, any_release: bool) -> None:
    """Refuse to mix attempts of another release, or of a run with the same name in a shared database."""
    head = store.head()
    stored = read_config(EvalConfig, tomllib.loads(head.config), place=f"run {head.name} in the store")
    if differing := differences(stored, config):
        lines = "\n  ".join(differing)
        raise ConfigError(
            f"the store holds a run {head.name!r} of another configuration:\n  {lines}\nUse another --out."
        )
    begun, here = head.facts.get(VERSION_FACT), version("mas-orchestra")
    if begun != here and not any_release:
        raise ConfigError(
            f"{folder.path} was begun by mas-orchestra {begun}, this is {here}: its attempts could not be compared. "
            f"Install {begun} to go on with it, or begin a new run."
        )


def _scoring(scorers: Scorers) -> Scoring:
    async def scoring(task: Task, outcome: Outcome) -> Score:
        return await score_outcome(task, outcome, scorers)

    return scoring
