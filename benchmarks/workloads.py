"""The systems that are measured: which steps there are, who reads whom, and the least time that any runtime needs."""

from dataclasses import dataclass
from enum import StrEnum

QUESTION = "Compare how many homes stand empty in three large cities, and name your sources."
ROLES = ("Economist", "Statistician")


class Agent(StrEnum):
    """Kinds of steps, by their names in plans."""

    COT = "CoTAgent"
    SELF_CONSISTENCY = "SCAgent"
    DEBATE = "DebateAgent"
    REFLEXION = "ReflexionAgent"


# Calls of one step, and how many of them must follow each other. Debate: five rounds of two speakers, then a judge.
# Reflexion: a solution, and a critic who accepts it at once.
CALLS = {Agent.COT: 1, Agent.SELF_CONSISTENCY: 5, Agent.DEBATE: 11, Agent.REFLEXION: 2}
SEQUENTIAL = {Agent.COT: 1, Agent.SELF_CONSISTENCY: 1, Agent.DEBATE: 6, Agent.REFLEXION: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One step: its kind and the steps whose answers it reads."""

    id: str
    agent: Agent = Agent.COT
    reads: tuple[str, ...] = ()

    @property
    def task(self) -> str:
        """The sub-task, with ``${id}`` where an answer goes."""
        read = "".join(f"\n\n{source}:\n${{{source}}}" for source in self.reads)
        return f"Work on part {self.id} of the question and give a short result with its source.{read}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One multi-agent system; nodes stand after those that they read."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def calls(self) -> int:
        """LLM calls of one run."""
        return sum(CALLS[node.agent] for node in self.nodes)

    @property
    def bound(self) -> int:
        """Calls on the critical path: no runtime is faster than this many latencies."""
        finished: dict[str, int] = {}
        for node in self.nodes:
            ready = max((finished[source] for source in node.reads), default=0)
            finished[node.id] = ready + SEQUENTIAL[node.agent]
        return max(finished.values())

    @property
    def sink(self) -> str:
        """The step whose answer is the system's."""
        return self.nodes[-1].id


def chain(prefix: str, length: int) -> tuple[Node, ...]:
    """`length` steps, each reading the one before."""
    return tuple(Node(id=f"{prefix}{i}", reads=(f"{prefix}{i - 1}",) if i else ()) for i in range(length))


def fan(width: int) -> tuple[Node, ...]:
    """`width` independent steps and one that reads them all."""
    leaves = tuple(Node(id=f"part{i}") for i in range(width))
    return (*leaves, Node(id="join", reads=tuple(leaf.id for leaf in leaves)))


DIAMOND = (
    Node(id="start"),
    Node(id="left", reads=("start",)),
    Node(id="right", reads=("start",)),
    Node(id="end", reads=("left", "right")),
)

# Three lookups, extraction, a vote, a check, and the final text.
HOUSING = (
    Node(id="berlin"),
    Node(id="paris"),
    Node(id="madrid"),
    Node(id="extract", reads=("berlin", "paris", "madrid")),
    Node(id="vote", agent=Agent.SELF_CONSISTENCY, reads=("extract",)),
    Node(id="check", agent=Agent.REFLEXION, reads=("vote",)),
    Node(id="final", reads=("vote", "check")),
)

# Two branches of six latencies whose steps differ in length: a runtime that works level by level falls behind.
SKEW = (
    Node(id="debate", agent=Agent.DEBATE),
    *chain("link", 6),
    Node(id="join", reads=("debate", "link5")),
)

SHAPES = {
    shape.name: shape
    for shape in (
        Shape(name="single", nodes=(Node(id="only"),)),
        Shape(name="chain6", nodes=chain("link", 6)),
        Shape(name="fan8", nodes=fan(8)),
        Shape(name="diamond", nodes=DIAMOND),
        Shape(name="sc5", nodes=(Node(id="only", agent=Agent.SELF_CONSISTENCY),)),
        Shape(name="debate2x5", nodes=(Node(id="only", agent=Agent.DEBATE),)),
        Shape(name="housing", nodes=HOUSING),
        Shape(name="skew", nodes=SKEW),
    )
}
