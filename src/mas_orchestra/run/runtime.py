"""All that a system may use while it solves: models, sub-agents, limits, listeners."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mas_orchestra.agents.registry import Registry
from mas_orchestra.models.base import ChatModel
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.run.events import Listener
from mas_orchestra.search.base import Retriever
from mas_orchestra.types import Usage

__all__ = ["Limits", "OnStepError", "Runtime", "describe_model"]


class OnStepError(StrEnum):
    """What a failed step does to the rest of the plan."""

    FAIL = "fail"
    """Cancel everything; the run ends as `step_failed`."""
    PARTIAL = "partial"
    """Go on; who reads the failed step sees a marked gap. The run answers if the sink does."""
    SKIP = "skip"
    """Skip what depends on it, finish the rest; without the sink the run ends as `step_failed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits of one run; ``None`` is unlimited. Checked before every call; nothing is sent that could pass one.

    Attributes:
        max_calls: LLM calls, planning included.
        max_tokens: Tokens of all buckets.
        max_cost_usd: US dollars; refuses to start on a model without a known price unless `max_tokens` is given too.
        timeout_s: Seconds for the whole run, from its start. No call starts after it.
        step_timeout_s: Seconds for one step, time spent only in a queue not counted.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None
    step_timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """All that a system may use while it solves.

    Attributes:
        model: The sub-agents' model.
        models: The model menu, by the names under which plans choose: a step's optional argument ``model``.
        model_hints: When to choose which of them, in words for the orchestrator; prices are told anyhow.
        agent_models: Model by sub-agent name, where one kind has its own.
        orchestrator: Who writes plans; ``None`` means `model`.
        registry: The sub-agents that plans may name, with their options.
        retriever: What `WebSearchAgent` searches.
        seed: Names the run's random draws (`mas_orchestra.seeds`).
        listeners: Called with every event, in order.
    """

    model: ChatModel
    registry: Registry
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    model_hints: Mapping[str, str] = field(default_factory=dict)
    agent_models: Mapping[str, ChatModel] = field(default_factory=dict)
    orchestrator: ChatModel | None = None
    retriever: Retriever | None = None
    limits: Limits = Limits()
    on_step_error: OnStepError = OnStepError.FAIL
    seed: int = 0
    listeners: tuple[Listener, ...] = ()

    @property
    def catalog(self) -> Catalog:
        """What plans may name: the registry's sub-agents, each with the argument ``model`` where there is a menu."""
        return self.registry.catalog_with(
            {name: describe_model(self.model_hints.get(name, ""), model) for name, model in self.models.items()}
        )

    def model_of(self, agent: str, chosen: object = None) -> ChatModel:
        """The model of one step: the one that the plan chose from the menu, else the sub-agent's own, else `model`."""
        if isinstance(chosen, str) and chosen in self.models:
            return self.models[chosen]
        return self.agent_models.get(agent, self.model)

    @property
    def all_models(self) -> frozenset[ChatModel]:
        """Every model that a run may call."""
        named = {self.model, *self.models.values(), *self.agent_models.values()}
        return frozenset(named if self.orchestrator is None else {*named, self.orchestrator})

    async def close(self) -> None:
        """Close every model; the runtime is not used afterwards."""
        for model in self.all_models:
            await model.close()


def describe_model(hint: str, model: ChatModel) -> str:
    """What an orchestrator is told of a model: the hint and the price, as ``"quick, $0.15 in and $0.60 out …"``."""
    thousand = 1_000  # of tokens: some prices step up with the length of one call
    prices = [model.cost_usd(Usage(input_tokens=thousand)), model.cost_usd(Usage(output_tokens=thousand))]
    if None in prices:
        price = "price unknown"
    elif not any(prices):
        price = "free"
    else:
        price = " in and ".join(f"${(each or 0.0) * 1e6 / thousand:.2f}" for each in prices) + " out per million tokens"
    return ", ".join(part for part in (hint.strip().rstrip("."), price) if part)
