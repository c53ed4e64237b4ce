"""MASBENCH: sets built here, the published set, and tasks made on the spot by the generator.

Places: a ``.jsonl`` or ``.parquet`` file, a folder of them, a hub id, or an axis with options, as
``masbench:depth?values=2,4,6&n=50`` (n tasks for each value; ``split=test|train``, ``attack=note``). Licence: rows made
here are yours; the published set's is on its page. The metadata hold axis, value, split and, where the text is
attacked, `poisoned`: which answers, and the false values.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.masbench.generate import generate
from mas_orchestra.masbench.load import BenchRow, load
from mas_orchestra.masbench.problem import Axis, Poisoned, Problem, Split
from mas_orchestra.masbench.request import BuildRequest
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

__all__ = ["DEFAULT_ROWS", "generated_tasks", "is_axis", "masbench_tasks"]

DEFAULT_ROWS = 10
"""Tasks for each value when no number is given."""
_OPTIONS = ("values", "n", "split", "attack")


def masbench_tasks(place: str) -> Iterator[Task]:
    """The tasks of a file, a folder or a dataset on the hub; errors as `mas_orchestra.masbench.load.load`."""
    return map(_task, load(place))


def is_axis(place: str) -> bool:
    """Whether a place names an axis to generate for, and no file."""
    return place in list(Axis) and not Path(place).exists()


def generated_tasks(axis: str, options: Mapping[str, str]) -> Iterator[Task]:
    """Tasks of one axis made in memory; the same options give the same tasks on any machine.

    Raises:
        UnknownNameError: An option that there is not.
        UsageError: A value that is no number, or that the axis does not have.
    """
    for name in options:
        if name not in _OPTIONS:
            raise UnknownNameError("option of masbench", name, _OPTIONS)
    rows = _integer("n", options.get("n", str(DEFAULT_ROWS)))
    values = [_integer("values", text) for text in options.get("values", "").split(",") if text.strip()]
    split = options.get("split", Split.TEST)
    if split not in list(Split):
        raise UnknownNameError("split", split, [known.value for known in Split])
    try:
        request = BuildRequest(
            axes=(Axis(axis),),
            values=tuple(values) or None,
            attacks=(options.get("attack", "note"),),
            **{"train": 0, "test": 0, split: rows},
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(f"masbench:{axis}: option {place}: {first['msg']}, got {first['input']!r}") from error
    families = [family for shard in request.shards() for family in shard.families]
    return (_task(_row(generate(family[index % len(family)], index))) for family in families for index in range(rows))


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"masbench option {name}={text!r}: expected a whole number") from None


def _row(problem: Problem) -> BenchRow:
    return BenchRow(
        id=problem.id,
        axis=problem.axis.value,
        value=problem.value,
        split=problem.split.value,
        question=problem.question,
        answers=tuple(map(str, problem.answers)),
        problem=problem,
    )


def _task(row: BenchRow) -> Task:
    metadata: dict[str, JsonValue] = {"axis": row.axis, "value": row.value, "split": row.split}
    if row.problem is not None and row.problem.poisoned is not None:
        metadata["poisoned"] = _poisoned(row.problem.poisoned)
    return Task(id=row.id, question=row.question, answers=row.answers, kind="masbench", metadata=metadata)


def _poisoned(poisoned: Poisoned) -> JsonValue:
    return {"targets": list(poisoned.targets), "values": list(poisoned.values), "joint": list(poisoned.joint)}
