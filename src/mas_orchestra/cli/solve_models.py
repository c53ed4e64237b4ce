"""Which models a command uses, and what else a run needs besides its system."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from mas_orchestra.config import Settings
from mas_orchestra.errors import ConfigError

__all__ = ["EMBEDDED_URI", "ModelChoice", "choose_models"]

EMBEDDED_URI = "local:smollm2-135m"


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
    model: str | None, orchestrator: str | None, settings: Settings, environ: Mapping[str, str] = os.environ
) -> ModelChoice:
    """The models of a run: options, then environment, then ``mas.toml``, then the embedded model where it is installed.

    Raises:
        ConfigError: There is none; says the ways to get one.
    """
    writer = orchestrator or environ.get("MAS_ORCHESTRATOR") or settings.orchestrator
    chosen = model or environ.get("MAS_MODEL") or settings.model
    uri = chosen or _embedded()
    return ModelChoice(model=uri, orchestrator=None if writer == uri else writer, is_fallback=chosen is None)


def _embedded() -> str:
    from mas_orchestra.models.weights import EMBEDDED, find_weights

    if find_spec("xllamacpp") is not None and find_weights(EMBEDDED[EMBEDDED_URI.partition(":")[2]]) is not None:
        return EMBEDDED_URI
    raise ConfigError(
        "no model to ask. Name one with --model URI (as openai:gpt-4o-mini, with its key in OPENAI_API_KEY), with the "
        'environment variable MAS_MODEL, or with model = "URI" in mas.toml; or get the embedded one: '
        f"pip install 'mas-orchestra[local]', then: mas models get {EMBEDDED_URI}"
    )
