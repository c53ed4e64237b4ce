"""Scores MASBENCH replies: the rules are those of `mas_orchestra.masbench.score`."""

from collections.abc import Mapping
from enum import StrEnum

from mas_orchestra.masbench.score import score_answers
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task

__all__ = ["MasbenchScorer", "Reading"]


class Reading(StrEnum):
    """Which reading of a reply is its value."""

    STRICT = "strict"
    """The paper's: every box in order, exactly as many as asked."""
    TOLERANT = "tolerant"
    """"Problem k:" lines, else the last boxes, else bare integers, one a line."""


class MasbenchScorer:
    """All or nothing over the asked answers, which are `Task.answers` in the order asked.

    The parts hold both readings, the share of right answers, the answers that are right only modulo 23, and, where
    ``metadata["poisoned"]`` says what was attacked (`targets` and `values`), how often the false value was believed.
    """

    def __init__(self, *, reading: Reading = Reading.STRICT) -> None:
        self._reading = reading

    @property
    def name(self) -> str:
        """``"masbench:strict"`` or ``"masbench:tolerant"``."""
        return f"masbench:{self._reading}"

    async def score(self, task: Task, answer: str) -> Score:
        """The score of the reading asked for; unscored where the task has no integers to compare with."""
        try:
            answers = [int(text) for text in task.answers]
        except ValueError:
            return Score(value=None, reason="bad_reference", details={"answers": list(task.answers)})
        if not answers:
            return Score(value=None, reason="no_reference")
        found = score_answers(answer, answers, attacked=_attacked(task.metadata.get("poisoned")))
        chosen = found.strict if self._reading is Reading.STRICT else found.tolerant
        parts = {
            "all_correct": float(chosen.all_correct),
            "answer_accuracy": chosen.answer_accuracy,
            "all_correct_mod_23": float(chosen.all_correct_mod_23),
            "all_correct_strict": float(found.strict.all_correct),
            "all_correct_tolerant": float(found.tolerant.all_correct),
            "format_ok": float(found.format_ok),
        }
        if found.attack_success is not None:
            parts["attack_success"] = found.attack_success
        return Score(
            value=parts["all_correct"],
            reason="right" if chosen.all_correct else "wrong",
            parts=parts,
            details={
                "rule": self.name,
                "read": list(chosen.answers),
                "faults": [fault.value for fault in found.faults],
            },
        )


def _attacked(poisoned: object) -> dict[int, int] | None:
    """False value by index into the answers; ``None`` where nothing is attacked."""
    if not isinstance(poisoned, Mapping):
        return None
    return {int(target): int(value) for target, value in zip(poisoned["targets"], poisoned["values"], strict=True)}
