"""BrowseComp-Plus: 830 hard questions over a fixed corpus of about 100,000 documents (Chen et al. 2025).

Source: the hub's ``Tevatron/browsecomp-plus`` (split test; columns query_id, query, answer, gold_docs, evidence_docs,
negative_docs). It is published scrambled, so that it does not end up in training data; the project's own script
(``scripts_build_index/decrypt_dataset.py`` of ``texttron/BrowseComp-Plus``) writes it out as JSON lines, and that file
is read here. Scrambled rows are refused. Licence: MIT. Answers are short texts in many forms: meant for a judge.
"""

import re
from random import Random

from mas_orchestra.errors import FileFormatError
from mas_orchestra.tasks.published import PublishedSet, cell
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task

__all__ = ["BROWSECOMP_PLUS"]

_SCRAMBLED = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")


def _to_task(row: Row, rng: Random) -> Task:
    del rng
    query = cell(row, "query")
    if _SCRAMBLED.fullmatch(query):
        raise FileFormatError(
            f"{row.place}: the question is scrambled as published; unscramble the set with "
            "scripts_build_index/decrypt_dataset.py of texttron/BrowseComp-Plus and give the file that it writes"
        )
    return Task(
        id=f"browsecomp_plus-{cell(row, 'query_id')}", question=query, answers=(cell(row, "answer"),), kind="judge"
    )


BROWSECOMP_PLUS = PublishedSet(
    name="browsecomp_plus",
    hub_id="Tevatron/browsecomp-plus",
    path_words=(),
    licence="MIT",
    to_task=_to_task,
)
