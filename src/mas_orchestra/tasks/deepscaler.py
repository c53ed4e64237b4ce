"""DeepScaleR: about 40,000 competition problems for training (Luo et al. 2025).

Source: the hub's ``agentica-org/DeepScaleR-Preview-Dataset``, file ``deepscaler.json`` (one JSON list, split train;
columns problem, answer, solution, no ids: a task is named after its row). Licence: MIT. It holds AIME problems up to
2023: do not report results on those after training on it.
"""

from random import Random

from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["DEEPSCALER"]


def _to_task(row: Row, rng: Random) -> Task:
    del rng
    return Task(
        id=f"deepscaler-{row.number}",
        question=cell(row, "problem"),
        answers=(cell(row, "answer"),),
        kind="mathematics",
    )


DEEPSCALER = PublishedSet(
    name="deepscaler",
    hub_id="agentica-org/DeepScaleR-Preview-Dataset",
    path_words=("deepscaler",),
    licence="MIT",
    to_task=_to_task,
)
