"""Tasks that belong together, with where they come from and what identifies them."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import orjson

from mas_orchestra.tasks.task import Task

__all__ = ["TaskSet", "fingerprint"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSet:
    """Tasks of one origin.

    Attributes:
        name: Of the loader, with the file's or the axis' name behind it.
        fingerprint: See `fingerprint`; equal ones mean the same questions and the same answers in the same order.
        licence: What the source says, in its own words; empty for files of the user's own.
        source: Where the tasks were read from: a path, a hub id, or the generator's version.
    """

    name: str
    tasks: tuple[Task, ...]
    fingerprint: str
    licence: str
    source: str

    def __len__(self) -> int:
        return len(self.tasks)


def fingerprint(tasks: Iterable[Task]) -> str:
    """SHA-256 in hex over id, question, answers and kind of every task in order.

    >>> one = Task(id="1", question="6 * 7?", answers=("42",), kind="mathematics")
    >>> len(fingerprint([one])), fingerprint([one, one]) == fingerprint([one])
    (64, False)
    """
    digest = hashlib.sha256()
    for task in tasks:
        digest.update(orjson.dumps([task.id, task.question, list(task.answers), task.kind]) + b"\n")
    return digest.hexdigest()
