"""AIME 2025: 30 problems whose answers are integers from 0 to 999.

Source: the hub's ``math-ai/aime25`` (split test, 30 rows; columns problem, answer, id); ``opencompass/AIME2025``
(question, answer, without ids) is read as well: a row without an id is named after its number. Licence: the problems
are the Mathematical Association of America's; see the collections' pages for their own.
"""

from random import Random

from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["AIME25"]


def _to_task(row: Row, rng: Random) -> Task:
    del rng
    return Task(
        id=f"aime25-{row.record.get('id', row.number)}",
        question=cell(row, "problem", "question"),
        answers=(cell(row, "answer"),),
        kind="mathematics",
    )


AIME25 = PublishedSet(
    name="aime25",
    hub_id="math-ai/aime25",
    path_words=("test",),
    licence="problems: Mathematical Association of America; see the dataset's page",
    to_task=_to_task,
)
