"""HotpotQA: questions that need two Wikipedia pages, with short answers (Yang et al. 2018).

Source: the hub's ``hotpotqa/hotpot_qa``, configuration distractor, split validation (7,405 rows; columns id, question,
answer, type, level, supporting_facts, context), or the authors' ``hotpot_dev_distractor_v1.json`` (``_id`` instead of
``id``). Licence: CC BY-SA 4.0. The pages are left out of the task: systems search, or answer from memory.
"""

from random import Random

from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["HOTPOTQA"]


def _to_task(row: Row, rng: Random) -> Task:
    del rng
    return Task(
        id=f"hotpotqa-{cell(row, 'id', '_id')}",
        question=cell(row, "question"),
        answers=(cell(row, "answer"),),
        kind="text",
        metadata={"type": str(row.record.get("type") or ""), "level": str(row.record.get("level") or "")},
    )


HOTPOTQA = PublishedSet(
    name="hotpotqa",
    hub_id="hotpotqa/hotpot_qa",
    path_words=("distractor", "validation"),
    licence="CC BY-SA 4.0",
    to_task=_to_task,
)
