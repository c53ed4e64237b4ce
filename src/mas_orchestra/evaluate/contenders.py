"""From texts like ``debate:3x5`` to systems that can run: who takes part in an evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mas_orchestra import plan as language
from mas_orchestra.agents.registry import Registry
from mas_orchestra.agents.spec import AgentSpec, parse_agent_spec
from mas_orchestra.errors import ConfigError, InvalidPlanError, UsageError, nearest
from mas_orchestra.evaluate.config import EvalConfig
from mas_orchestra.evaluate.matched_cost import MATCHED, MatchedCost
from mas_orchestra.evaluate.models_of_run import OpenModels
from mas_orchestra.evaluate.plan_scorers import PlanScorer, plan_scorer
from mas_orchestra.evaluate.results import SystemInfo
from mas_orchestra.evaluate.several_plans import BestOf, MajorityOf
from mas_orchestra.evaluate.system_text import FORMS, HEADS, SystemText
from mas_orchestra.evaluate.workflow_search import WorkflowSearch
from mas_orchestra.plan.report import Mode
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run import FixedPlan, Orchestrated, Runtime, StandaloneAgent, System
from mas_orchestra.search.base import Retriever
from mas_orchestra.simulate import is_simulated
from mas_orchestra.types import DoM, JsonValue

__all__ = ["Contender", "build_contenders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One system as it takes part in a run.

    Attributes:
        name: As it was written, blanks in one form.
        system: What solves; for a matched-cost baseline, what solves for a price.
        runtime: Its models and sub-agents; attempts add seed, cache namespace and caps.
        is_single_agent: One sub-agent standing alone, matched-cost baselines included.
        expected_calls, worst_calls: LLM calls of one attempt as far as they are known before it; see `estimate`.
    """

    name: str
    system: System | MatchedCost
    runtime: Runtime
    is_single_agent: bool = False
    expected_calls: float | None = None
    worst_calls: int | None = None

    @property
    def reads(self) -> str | None:
        """The system whose cost it needs to know, so that it runs after that one."""
        return self.system.reads if isinstance(self.system, MatchedCost) else None

    def info(self, *, is_reference: bool) -> SystemInfo:
        """Its row of the scoreboard."""
        uris = [model.uri for model in self.runtime.all_models]
        return SystemInfo(
            name=self.name,
            is_single_agent=self.is_single_agent,
            is_simulated=any(map(is_simulated, uris)),
            is_reference=is_reference,
        )


def build_contenders(
    config: EvalConfig, models: OpenModels, *, scorer: PlanScorer | None = None
) -> tuple[Contender, ...]:
    """Every system of the configuration, matched-cost baselines added, each after the one that it reads.

    Args:
        config: The evaluation.
        models: Opens what the systems name.
        scorer: Picks the plan of ``best_of:N`` where the configuration names none, as a plan reward model.

    Raises:
        UsageError: A text that is no system, one that is there twice, a file or a model that it needs is wrong.
    """
    builder = _Builder(config=config, models=models, scorer=scorer)
    found: dict[str, Contender] = {}
    for text in config.systems:
        one = builder.build(text)
        if one.name in found:
            raise ConfigError(f"system {one.name!r} is there twice; each system takes part once")
        found[one.name] = one
    if config.matched_cost:
        for one in tuple(found.values()):
            if not one.is_single_agent and MATCHED + one.name not in found:
                found[MATCHED + one.name] = builder.build(MATCHED + one.name)
    for one in found.values():
        if one.reads is not None and (one.reads not in found or found[one.reads].reads is not None):
            raise ConfigError(f"{one.name!r} needs the system {one.reads!r} in the same run; add it to `systems`")
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Builder:
    config: EvalConfig
    models: OpenModels
    scorer: PlanScorer | None

    def build(self, text: str) -> Contender:
        """The contender that a text means."""
        if text.strip().startswith(MATCHED):
            return self._matched(SystemText.read(text.strip()[len(MATCHED) :]).whole)
        said = SystemText.read(text)
        kinds: Mapping[str, Callable[[SystemText], Contender]] = {
            "orchestrated": self._orchestrated,
            "plan": self._plan,
            "best_of": self._best_of,
            "majority_of": self._majority_of,
            "workflow_search": self._workflow_search,
        }
        return kinds.get(said.head, self._alone)(said)

    def _alone(self, said: SystemText) -> Contender:
        try:
            spec = parse_agent_spec(f"{said.head}:{said.rest}" if said.rest else said.head)
        except ConfigError as error:
            close = nearest(said.head, HEADS)
            if close in {None, said.head}:
                raise
            raise ConfigError(f"{said.whole!r} is no system. Did you mean {close!r}? Known forms:\n{FORMS}") from error
        said.only()
        runtime = self.runtime(self._registry(spec))
        if spec.agent == "WebSearchAgent" and runtime.retriever is None:
            raise ConfigError(f"system {said.whole!r} has nothing to search; give `corpus` (JSON lines)")
        system = StandaloneAgent(agent=spec.agent, arguments=dict(spec.arguments), name=said.whole)
        calls = self.calls_of(
            Plan(steps=(language.Step(id="agent", agent=spec.agent, arguments=dict(spec.arguments)),)), runtime
        )
        return Contender(
            name=said.whole,
            system=system,
            runtime=runtime,
            is_single_agent=True,
            expected_calls=calls,
            worst_calls=calls,
        )

    def _matched(self, other: str) -> Contender:
        options: dict[str, object] = dict(self.config.agent_options.get("SCAgent", {}))
        system = MatchedCost(reads=other, options=options)
        return Contender(name=system.name, system=system, runtime=self.runtime(self._registry()), is_single_agent=True)

    def _orchestrated(self, said: SystemText) -> Contender:
        said.only("dom", "format", "repair_turns")
        runtime = self._written_by(said.rest or None)
        system = Orchestrated(writer=said.writer(), name=said.whole)
        return self._planned(said, system, runtime, plans=1)

    def _best_of(self, said: SystemText) -> Contender:
        said.only("model", "dom", "scorer")
        name = said.options.get("scorer") or self.config.plan_scorer
        scorer = plan_scorer(name) if name else self.scorer
        if scorer is None:
            raise ConfigError(
                f"system {said.whole!r} needs a plan scorer: write scorer=NAME behind it or set `plan_scorer` "
                "(shortest, most_common), or give one to build_contenders(scorer=…)"
            )
        count = said.count()
        system = BestOf(plans=count, writer=said.writer(), scorer=scorer, name=said.whole)
        return self._planned(said, system, self._written_by(said.options.get("model")), plans=count, running=1)

    def _majority_of(self, said: SystemText) -> Contender:
        said.only("model", "dom")
        count = said.count()
        system = MajorityOf(plans=count, writer=said.writer(), name=said.whole)
        return self._planned(said, system, self._written_by(said.options.get("model")), plans=count)

    def _workflow_search(self, said: SystemText) -> Contender:
        said.only()
        if not self.config.validation:
            raise ConfigError(f"system {said.whole!r} needs `validation`: tasks that the evaluation does not use")
        runtime = self.runtime(self._registry())
        system = WorkflowSearch.over(runtime.registry.catalog, name=said.whole)
        calls = [self.calls_of(plan, runtime) for plan in system.candidates.values()]
        return Contender(
            name=said.whole,
            system=system,
            runtime=runtime,
            expected_calls=sum(calls) / len(calls),
            worst_calls=max(calls),
        )

    def _plan(self, said: SystemText) -> Contender:
        said.only("dom")
        runtime = self.runtime(self._registry())
        plan = _read_plan(Path(said.rest), said.dom(), runtime)
        calls = self.calls_of(plan, runtime)
        return Contender(
            name=said.whole,
            system=FixedPlan(plan=plan, name=said.whole),
            runtime=runtime,
            expected_calls=calls,
            worst_calls=calls,
        )

    def _planned(
        self, said: SystemText, system: System, runtime: Runtime, *, plans: int, running: int | None = None
    ) -> Contender:
        """A contender whose plans are not known before they are written."""
        running = plans if running is None else running
        typical = [
            self.calls_of(Plan(steps=(language.Step(id="a", agent=name),)), runtime) for name in ("CoTAgent", "SCAgent")
        ]
        return Contender(
            name=said.whole,
            system=system,
            runtime=runtime,
            expected_calls=plans + running * sum(typical),
            worst_calls=self.config.limits.max_calls,
        )

    def _written_by(self, uri: str | None) -> Runtime:
        runtime = self.runtime(self._registry())
        writer = uri or self.config.orchestrator
        return replace(runtime, orchestrator=self.models.open(writer)) if writer else runtime

    def runtime(self, registry: Registry) -> Runtime:
        """What every system has in common: the same models and the same limits."""
        return Runtime(
            model=self.models.open(self.config.model),
            models={name: self.models.open(entry.model) for name, entry in self.config.menu.items()},
            model_hints={name: entry.good_at for name, entry in self.config.menu.items()},
            agent_models={name: self.models.open(uri) for name, uri in self.config.agent_models.items()},
            registry=registry,
            retriever=self._retriever(),
            limits=self.config.limits.limits(),
            on_step_error=self.config.on_step_error,
        )

    def _registry(self, spec: AgentSpec | None = None) -> Registry:
        """The sub-agents, their options from the configuration; without a corpus nobody can search."""
        options: dict[str, dict[str, JsonValue]] = {name: dict(one) for name, one in self.config.agent_options.items()}
        if spec is not None:
            options[spec.agent] = {**options.get(spec.agent, {}), **spec.options}
        registry = Registry.installed(options)
        if self.config.corpus is None and (spec is None or spec.agent != "WebSearchAgent"):
            return Registry(agent for agent in registry if agent.card.name != "WebSearchAgent")
        return registry

    def _retriever(self) -> Retriever | None:
        return self.models.retriever(Path(self.config.corpus)) if self.config.corpus else None

    def calls_of(self, plan: Plan, runtime: Runtime) -> int:
        """Most LLM calls of a plan, as the cards reckon them."""
        return language.check(plan, mode=Mode.LENIENT, catalog=runtime.registry.catalog).max_calls


def _read_plan(file: Path, dom: DoM, runtime: Runtime) -> Plan:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read the plan {file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"the plan {file} is not UTF-8 text at byte {error.start}") from None
    report = language.read(text, dom=dom, mode=Mode.LENIENT, catalog=runtime.registry.catalog)
    if report.plan is None:
        faults = "; ".join(fault.message for fault in report.faults)
        raise InvalidPlanError(f"{file} holds no plan that can run: {faults}")
    return report.plan
