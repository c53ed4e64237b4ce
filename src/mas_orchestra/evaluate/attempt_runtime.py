"""The runtime of one attempt: its own seed, its own part of the response cache, the run's caps."""

import dataclasses
from collections.abc import Callable

from mas_orchestra.models.base import ChatModel, Namespaced
from mas_orchestra.run import Runtime

__all__ = ["in_namespace", "with_models"]


def with_models(runtime: Runtime, change: Callable[[ChatModel], ChatModel]) -> Runtime:
    """The runtime with every model changed."""
    return dataclasses.replace(
        runtime,
        model=change(runtime.model),
        models={name: change(model) for name, model in runtime.models.items()},
        agent_models={name: change(model) for name, model in runtime.agent_models.items()},
        orchestrator=None if runtime.orchestrator is None else change(runtime.orchestrator),
    )


def in_namespace(runtime: Runtime, namespace: str) -> Runtime:
    """The runtime whose response caches know only what was asked under `namespace`.

    The same prompt in another attempt must be asked again: samples from a cache are not independent.
    """
    return with_models(runtime, lambda model: model.within(namespace) if isinstance(model, Namespaced) else model)
