"""GPQA Diamond: 198 graduate questions in biology, chemistry and physics with four options (Rein et al. 2023).

Source: the hub's ``Idavidrein/gpqa``, file ``gpqa_diamond.csv`` (198 rows; of its many columns Record ID, Question,
Correct Answer, Incorrect Answer 1 to 3, High-level domain and Subdomain are read). The dataset is closed: accept its
terms on its page and set ``HF_TOKEN``, or give the file. Licence: CC-BY-4.0. Its authors ask not to publish examples.

The file has the right answer first, so the options are shuffled, by seed and record id.
"""

from random import Random

from mas_orchestra.tasks.choices import shuffled, with_choices
from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["GPQA_DIAMOND"]


def _to_task(row: Row, rng: Random) -> Task:
    wrong = [cell(row, f"Incorrect Answer {number}") for number in (1, 2, 3)]
    options, letter = shuffled(cell(row, "Correct Answer"), wrong, rng)
    return Task(
        id=f"gpqa-{cell(row, 'Record ID')}",
        question=with_choices(cell(row, "Question"), options),
        answers=(letter,),
        kind="choice",
        metadata={
            "choices": list(options),
            "domain": str(row.record.get("High-level domain") or ""),
            "subdomain": str(row.record.get("Subdomain") or ""),
        },
    )


GPQA_DIAMOND = PublishedSet(
    name="gpqa_diamond",
    hub_id="Idavidrein/gpqa",
    path_words=("diamond",),
    licence="CC-BY-4.0",
    to_task=_to_task,
)
