"""A plan while it is read: what the text says, unchecked, with offsets into the text."""

from dataclasses import dataclass, field
from typing import Any

from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.plan.schema import Edge, Plan, Step

__all__ = ["FAR_TOO_MANY", "Draft", "DraftEdge", "DraftStep"]

FAR_TOO_MANY = 4
"""A plan with so many times more steps than are accepted is not read to its end or examined: it is too large anyway."""


@dataclass(slots=True, kw_only=True)
class DraftStep:
    """One step as found. Offsets are ``None`` for a plan that never was text.

    Attributes:
        id: Trimmed; empty when the text gives none.
        agent: As written, empty when the text gives none.
        at, agent_at, input_at: Offsets of the step, of the agent's name and of the input.
    """

    id: str = ""
    agent: str = ""
    description: str = ""
    input: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    at: int | None = None
    agent_at: int | None = None
    input_at: int | None = None


@dataclass(slots=True, kw_only=True)
class DraftEdge:
    """One edge as found."""

    source: str
    target: str
    at: int | None = None


@dataclass(slots=True, kw_only=True)
class Draft:
    """A plan as found.

    Attributes:
        answer_at: Offset of the direct answer.
        edges_are_references: True for the ``tools`` format, which has no edges of its own.
    """

    format: PlanFormat | None = None
    thinking: str = ""
    steps: list[DraftStep] = field(default_factory=list)
    edges: list[DraftEdge] = field(default_factory=list)
    answer: str | None = None
    answer_at: int | None = None
    edges_are_references: bool = False

    @classmethod
    def of(cls, plan: Plan) -> "Draft":
        """The draft that says what `plan` says."""
        return cls(
            thinking=plan.thinking,
            steps=[
                DraftStep(
                    id=step.id.strip(),
                    agent=step.agent,
                    description=step.description,
                    input=step.input,
                    arguments=step.arguments,
                )
                for step in plan.steps
            ],
            edges=[DraftEdge(source=source, target=target) for source, target in plan.edges],
            answer=plan.answer,
        )

    def plan(self) -> Plan:
        """The plan that this draft says, valid or not."""
        return Plan(
            thinking=self.thinking,
            steps=tuple(
                Step(
                    id=step.id,
                    agent=step.agent,
                    description=step.description,
                    input=step.input,
                    arguments=step.arguments,
                )
                for step in self.steps
            ),
            edges=tuple(Edge(edge.source, edge.target) for edge in self.edges),
            answer=self.answer,
        )
