"""Which models a command uses, and what else a run needs besides its system."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from mas_orchestra.config import Settings
from mas_orchestra.errors import ConfigError

__all__ = ["EMBEDDED_URI", "ModelChoice", "choose_models"]

EMBEDDED_URI = "local:smollm2-135m"
NO_MODEL = (
    "no model to ask. Name one with --model URI (as openai:gpt-4o-mini, with its key in OPENAI_API_KEY), with the "
    'environment variable MAS_MODEL, or with model = "URI" in mas.toml; or get the embedded one: '
    f"pip install 'mas-orchestra[local]', then: mas models get {EMBEDDED_URI}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Model URIs.

    Attributes:
        model: The sub-agents' model.
        orchestrator: Who writes plans, ``None`` for the same.
        is_fallback: Whether nobody asked for this model and the embedded one steps in.
    """

    model: str
    orchestrator: str | None = None
    is_fallback: bool = False


def choose_models(
    model: str | None,
    orchestrator: str | None,
    settings: Settings,
    *,
    environ: Mapping[str, str] = os.environ,
    has_embedded: Callable[[], bool] | None = None,
) -> ModelChoice:
    """The models of a run: options, then environment, then ``mas.toml``, then the embedded model.

    Args:
        model: URI from the options.
        orchestrator: Likewise.
        settings: Settings of the command.
        environ: Environment variables.
        has_embedded: Whether the embedded model can run; looks for its engine and weights by default.

    Raises:
        ConfigError: There is none; says the ways to get one.
    """
    writer = orchestrator or environ.get("MAS_ORCHESTRATOR") or settings.orchestrator
    chosen = model or environ.get("MAS_MODEL") or settings.model or None
    if chosen is None and not (has_embedded or _is_embedded_ready)():
        raise ConfigError(NO_MODEL)
    uri = chosen or EMBEDDED_URI
    return ModelChoice(model=uri, orchestrator=None if writer == uri else writer, is_fallback=chosen is None)


def _is_embedded_ready() -> bool:
    """Whether engine and weights of the embedded model are on this machine."""
    from mas_orchestra.models.weights import EMBEDDED, find_weights

    name = EMBEDDED_URI.partition(":")[2]
    return find_spec("xllamacpp") is not None and find_weights(EMBEDDED[name]) is not None
