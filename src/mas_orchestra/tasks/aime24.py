"""AIME 2024: 30 problems whose answers are integers from 0 to 999.

Source: the hub's ``HuggingFaceH4/aime_2024`` (split train, 30 rows; columns id, problem, solution, answer, url, year);
``Maxwell-Jia/AIME_2024`` is read as well (ID, Problem, Solution, Answer). Licence: the problems are the Mathematical
Association of America's; the collections state none of their own or Apache-2.0, see their pages.
"""

from random import Random

from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["AIME24"]


def _to_task(row: Row, rng: Random) -> Task:
    del rng
    return Task(
        id=f"aime24-{cell(row, 'id', 'ID')}",
        question=cell(row, "problem", "Problem"),
        answers=(cell(row, "answer", "Answer"),),
        kind="mathematics",
    )


AIME24 = PublishedSet(
    name="aime24",
    hub_id="HuggingFaceH4/aime_2024",
    path_words=("train",),
    licence="problems: Mathematical Association of America; see the dataset's page",
    to_task=_to_task,
)
