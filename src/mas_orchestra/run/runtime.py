"""All that a system may use while it solves: models, sub-agents, limits, listeners."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mas_orchestra.agents.registry import Registry
from mas_orchestra.models.base import ChatModel
from mas_orchestra.run.events import Listener
from mas_orchestra.search.base import Retriever

__all__ = ["Limits", "OnStepError", "Runtime"]


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
        models: Models by URI for a model menu: the plan's optional argument ``model`` chooses one.
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
    agent_models: Mapping[str, ChatModel] = field(default_factory=dict)
    orchestrator: ChatModel | None = None
    retriever: Retriever | None = None
    limits: Limits = Limits()
    on_step_error: OnStepError = OnStepError.FAIL
    seed: int = 0
    listeners: tuple[Listener, ...] = ()

    @property
    def all_models(self) -> frozenset[ChatModel]:
        """Every model that a run may call."""
        named = {self.model, *self.models.values(), *self.agent_models.values()}
        return frozenset(named if self.orchestrator is None else {*named, self.orchestrator})

    async def close(self) -> None:
        """Close every model; the runtime is not used afterwards."""
        for model in self.all_models:
            await model.close()
