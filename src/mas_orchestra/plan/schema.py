"""The plan: what an orchestrator's text says, as a value. Data only; nothing in it is ever executed."""

from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

__all__ = ["Edge", "Plan", "Step"]


class Edge(NamedTuple):
    """`target` may read the output of `source`."""

    source: str
    target: str


class Step(BaseModel):
    """One call of one sub-agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """Any text without line breaks, ``$``, ``{`` and ``}`` after trimming."""
    agent: str
    """Name of a registered sub-agent."""
    description: str = ""
    """For people; never shown to a sub-agent."""
    input: str = ""
    """The sub-task, with ``${id}`` references; empty means the question itself, word for word."""
    arguments: dict[str, Any] = Field(default_factory=dict)
    """The sub-agent's own arguments (JSON values), as `AgentCard.arguments` describes them; debate has ``roles``."""

    @field_validator("arguments")
    @classmethod
    def _null_is_not_given(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """Without nulls: endpoints that enforce a schema make a model write every argument, unused ones as null."""
        return {name: value for name, value in arguments.items() if value is not None}


class Plan(BaseModel):
    """A whole multi-agent system, or a direct answer.

    Steps are in the order in which the text declares them; edges are in plan order without repeats.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    thinking: str = ""
    steps: tuple[Step, ...] = ()
    edges: tuple[Edge, ...] = ()
    answer: str | None = None
    """A direct answer; only without steps."""

    @field_validator("edges")
    @classmethod
    def _in_plan_order(cls, edges: tuple[Edge, ...], info: ValidationInfo) -> tuple[Edge, ...]:
        """Once each, by the source's and then the target's place among the steps, so that equal plans compare equal."""
        steps: tuple[Step, ...] = info.data.get("steps", ())
        place = {step.id: position for position, step in reversed(list(enumerate(steps)))}
        end = len(place)
        return tuple(sorted(dict.fromkeys(edges), key=lambda edge: (place.get(edge[0], end), place.get(edge[1], end))))
