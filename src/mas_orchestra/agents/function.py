"""Any async function with typed arguments as a sub-agent.

The function takes the context and the call; every further parameter is an argument that the orchestrator may give, so
it needs a type. The first paragraph of the docstring says what the sub-agent does, the second when to choose it, and
the section ``Args:`` describes the arguments.

>>> @sub_agent
... async def Repeater(context: AgentContext, call: StepCall, *, times: int = 2) -> str:
...     '''Repeats its input.
...
...     Emphasis.
...
...     Args:
...         times: How often.
...     '''
...     return " ".join([call.task] * times)
>>> Repeater.card.name, Repeater.card.summary, Repeater.card.good_at
('Repeater', 'Repeats its input.', 'Emphasis.')
>>> Repeater.card.arguments().times
2
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError

from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.errors import ConfigError, StepError
from mas_orchestra.plan.catalog import AgentCard

__all__ = ["FunctionAgent", "StepFunction", "sub_agent"]

StepFunction = Callable[..., Awaitable[str | StepOutcome]]
"""``async def Name(context: AgentContext, call: StepCall, *, argument: type = default) -> str | StepOutcome``"""

_ARGUMENT_LINE = re.compile(r"\s*(\w+)(?: \([^)]*\))?: (.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionAgent:
    """A sub-agent made from a function.

    Attributes:
        card: From the function's signature and docstring.
        function: The function itself, for tests that need no run.
    """

    card: AgentCard
    function: StepFunction = field(repr=False)

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """What the function returned; a text becomes the answer.

        Raises:
            StepError: `empty_reply` or `bad_outcome`, when the function returns no answer or something else.
        """
        arguments = {name: getattr(call.arguments, name) for name in self.card.arguments.model_fields}
        returned: object = await self.function(context, call, **arguments)
        outcome = StepOutcome(answer=returned) if isinstance(returned, str) else returned
        if not isinstance(outcome, StepOutcome):
            kind = type(returned).__name__
            raise StepError("bad_outcome", f"{self.card.name} returned {kind}; it must return str or StepOutcome")
        if not outcome.answer.strip():
            raise StepError("empty_reply", f"{self.card.name} returned an empty answer")
        return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What the card is told beside the function."""

    name: str | None = None
    good_at: str | None = None
    cost: str | None = None
    max_calls: int = 1
    aliases: tuple[str, ...] = ()

    def agent(self, function: StepFunction) -> FunctionAgent:
        if not inspect.iscoroutinefunction(function):
            raise ConfigError(f"sub-agent {_name(function)} must be a function written with 'async def'")
        about = _read_docstring(function)
        calls = "no calls" if self.max_calls == 0 else f"{self.max_calls} call{'s' * (self.max_calls > 1)}"
        card = AgentCard(
            name=self.name or _name(function),
            summary=about.summary,
            good_at=self.good_at or about.good_at,
            cost=self.cost or calls,
            aliases=self.aliases,
            arguments=_arguments_model(function, about.arguments),
            max_calls=lambda _: self.max_calls,
        )
        return FunctionAgent(card=card, function=function)


@overload
def sub_agent(function: StepFunction, /) -> FunctionAgent: ...
@overload
def sub_agent(
    *,
    name: str | None = None,
    good_at: str | None = None,
    cost: str | None = None,
    max_calls: int = 1,
    aliases: tuple[str, ...] = (),
) -> Callable[[StepFunction], FunctionAgent]: ...
def sub_agent(
    function: StepFunction | None = None,
    /,
    *,
    name: str | None = None,
    good_at: str | None = None,
    cost: str | None = None,
    max_calls: int = 1,
    aliases: tuple[str, ...] = (),
) -> FunctionAgent | Callable[[StepFunction], FunctionAgent]:
    """A sub-agent out of an async function, as ``@sub_agent`` or ``@sub_agent(max_calls=2)``.

    Args:
        function: The function.
        name: In plans; the function's own name by default.
        good_at: Instead of the docstring's second paragraph.
        cost: In words; from `max_calls` by default.
        max_calls: Most calls of a model that one step makes; 0 for a sub-agent that only computes.
        aliases: Other spellings that lenient reading accepts.

    Raises:
        ConfigError: The function cannot be a sub-agent; the message says what to change.
    """
    told = _Told(name=name, good_at=good_at, cost=cost, max_calls=max_calls, aliases=aliases)
    return told.agent if function is None else told.agent(function)


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """What a docstring says."""

    summary: str
    good_at: str
    arguments: dict[str, str]


def _read_docstring(function: StepFunction) -> _About:
    text = inspect.getdoc(function) or ""
    prose, _, arguments = text.partition("\nArgs:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in prose.split("\n\n") if paragraph.strip()]
    if not paragraphs:
        raise ConfigError(
            f"sub-agent {_name(function)} has no docstring; an orchestrator chooses by it: say what it does"
        )
    described = (_ARGUMENT_LINE.fullmatch(line) for line in arguments.split("\n\n")[0].splitlines())
    return _About(
        summary=paragraphs[0],
        good_at=paragraphs[1] if len(paragraphs) > 1 else paragraphs[0],
        arguments={match[1]: match[2] for match in described if match},
    )


def _arguments_model(function: StepFunction, descriptions: dict[str, str]) -> type[BaseModel]:
    name = _name(function)
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < 2 or any(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[:2]):
        raise ConfigError(f"sub-agent {name} must take (context: AgentContext, call: StepCall, …) in this order")
    hints = _type_hints(function)
    fields: dict[str, Any] = {}
    for parameter in parameters[2:]:
        _check_parameter(name, parameter, hints)
        default = ... if parameter.default is parameter.empty else parameter.default
        about = Field(default, description=descriptions.get(parameter.name))
        fields[parameter.name] = (hints[parameter.name], about)
    config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=(), validate_default=True)
    try:
        return create_model(f"{name}Arguments", __config__=config, **fields)
    except PydanticUserError as error:
        raise ConfigError(f"sub-agent {name}: its arguments have no JSON schema: {error.message}") from None


def _type_hints(function: StepFunction) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(
            f"sub-agent {_name(function)}: a type of its parameters is not known where it is defined: {error}"
        ) from None


def _check_parameter(agent: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> None:
    name = parameter.name
    if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY}:
        raise ConfigError(
            f"sub-agent {agent}: parameter {str(parameter)!r} has no name of its own in a plan; "
            "use named parameters with types"
        )
    if name.startswith("_"):
        raise ConfigError(f"sub-agent {agent}: parameter {name!r} begins with '_'; rename it")
    if name not in hints:
        raise ConfigError(
            f"sub-agent {agent}: parameter {name!r} has no type, and the orchestrator's schema is made of the types; "
            f"write for example '{name}: int = 3'"
        )


def _name(function: StepFunction) -> str:
    return getattr(function, "__name__", type(function).__name__)
