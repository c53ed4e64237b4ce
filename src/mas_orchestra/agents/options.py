"""Sub-agents as checked options: every number of a sub-agent is a field with a default and a range."""

from types import NoneType
from typing import get_args

import annotated_types
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from mas_orchestra.errors import ConfigError, nearest
from mas_orchestra.models.base import Params

__all__ = ["ConfiguredAgent"]


class ConfiguredAgent(BaseModel):
    """Base of the built-in sub-agents: ``SCAgent(samples=7)`` checks its options and is frozen afterwards.

    Attributes:
        temperature: Of every call (MAS-Orchestra, appendix G: 0.5).
        max_tokens: Upper bound of one reply; ``None`` leaves it to the endpoint.
        format_retries: How often a reply that cannot be read is asked for again with a reminder of the format
            (appendix G: 5).

    Raises:
        ConfigError: An unknown option (with the nearest known one) or a value out of range.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, arbitrary_types_allowed=True)

    temperature: float = Field(default=0.5, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    format_retries: int = Field(default=5, ge=0, le=20)

    def __init__(self, **options: object) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            reasons = "; ".join(_explain(type(self), detail) for detail in error.errors())
            raise ConfigError(f"options of {type(self).__name__}: {reasons}") from None

    def params(self) -> Params:
        """How this sub-agent samples a call."""
        return Params(temperature=self.temperature, max_tokens=self.max_tokens)


def _explain(agent: type[ConfiguredAgent], detail: ErrorDetails) -> str:
    name = str(detail["loc"][0])
    field = agent.model_fields.get(name)
    if field is None:
        hint = f" Did you mean {close!r}?" if (close := nearest(name, agent.model_fields)) else ""
        return f"unknown option {name!r}.{hint} Known: {', '.join(sorted(agent.model_fields))}"
    return f"{name} = {detail['input']!r} is not accepted; give {_accepted(field)} (default {field.default!r})"


def _accepted(field: FieldInfo) -> str:
    kinds = {int: "an integer", float: "a number", bool: "true or false", str: "a text", NoneType: "none"}
    annotation = field.annotation
    parts = get_args(annotation) or (annotation,)
    words = " or ".join(kinds.get(part, str(part)) for part in parts)
    low = next((bound.ge for bound in field.metadata if isinstance(bound, annotated_types.Ge)), None)
    high = next((bound.le for bound in field.metadata if isinstance(bound, annotated_types.Le)), None)
    if low is None:
        return words
    return f"{words}, at least {low}" if high is None else f"{words} from {low} to {high}"
