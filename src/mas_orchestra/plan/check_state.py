"""What the checks of a plan share: the rules, the draft, and what earlier checks found out."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from mas_orchestra.errors import nearest
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.draft import Draft, DraftStep
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.types import DoM

__all__ = ["CheckState", "Rules", "append_output"]

_MOST_HINTS = 20
_LONGEST_HINT = 80
_WHOLE_QUESTION = "Answer the question."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a plan is held to, see `mas_orchestra.plan.read`."""

    dom: DoM
    catalog: Catalog
    max_steps: int
    max_calls: int | None
    auto_join: bool


@dataclass(slots=True)
class CheckState:
    """A draft under examination.

    Attributes:
        numbers: Place of each id among the steps; of a duplicate id, the first.
        references: Ids that each step's input refers to.
        max_calls: Most LLM calls of all steps whose arguments are right.
        width, length, sink: As in `PlanReport`, once the graph is checked.
    """

    draft: Draft
    faults: FaultLog
    rules: Rules
    numbers: dict[str, int] = field(default_factory=dict)
    references: list[tuple[str, ...]] = field(default_factory=list)
    max_calls: int = 0
    width: int = 0
    length: int = 0
    sink: str | None = None
    _hints: int = 0

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """The known name most like `name`, for a message.

        Comparing names is dear, so only the first faults of a text get a hint, and long names get none.
        """
        self._hints += 1
        if self._hints > _MOST_HINTS or len(name) > _LONGEST_HINT:
            return None
        return nearest(name, [other for other in known if len(other) <= _LONGEST_HINT])

    def free_id(self, wanted: str) -> str:
        """`wanted`, lengthened until no step has it."""
        while wanted in self.numbers:
            wanted += "_"
        return wanted


def append_output(step: DraftStep, source: str) -> None:
    """Append the answer of `source` to a step's input under a heading, so that no work is thrown away."""
    step.input = f"{step.input or _WHOLE_QUESTION}\n\n## Output of step {source}\n${{{source}}}"
