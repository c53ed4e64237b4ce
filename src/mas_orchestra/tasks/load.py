"""The one entry to tasks: a spec in a line, a set of tasks out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from mas_orchestra import seeds
from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.masbench.problem import GENERATOR_VERSION
from mas_orchestra.tasks.aime24 import AIME24
from mas_orchestra.tasks.aime25 import AIME25
from mas_orchestra.tasks.browsecomp_plus import BROWSECOMP_PLUS
from mas_orchestra.tasks.columns import KINDS, own_tasks
from mas_orchestra.tasks.deepscaler import DEEPSCALER
from mas_orchestra.tasks.gpqa_diamond import GPQA_DIAMOND
from mas_orchestra.tasks.hotpotqa import HOTPOTQA
from mas_orchestra.tasks.masbench import generated_tasks, is_axis, masbench_tasks
from mas_orchestra.tasks.published import PublishedSet
from mas_orchestra.tasks.rows import FORMATS, read_rows
from mas_orchestra.tasks.task import Task
from mas_orchestra.tasks.task_set import TaskSet, fingerprint

__all__ = ["LOADERS", "PUBLISHED", "load_tasks"]

PUBLISHED: Mapping[str, PublishedSet] = {
    published.name: published for published in (AIME24, AIME25, GPQA_DIAMOND, HOTPOTQA, BROWSECOMP_PLUS, DEEPSCALER)
}
"""Sets that others publish, by name."""

_OWN = {"jsonl": (".jsonl", ".ndjson"), "json": (".json",), "csv": (".csv", ".tsv"), "parquet": (".parquet",)}

LOADERS: Mapping[str, str] = {
    "masbench": "masbench:FILE|FOLDER|OWNER/NAME, or masbench:AXIS?values=2,4&n=50 for tasks made on the spot",
    **{name: f"{name}[:FILE|FOLDER|OWNER/NAME]" for name in PUBLISHED},
    **{name: f"{name}:FILE[?kind=KIND&question=COLUMN&answer=COLUMN&id=COLUMN&choices=COLUMN]" for name in _OWN},
}
"""What a spec may begin with, each with its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spec:
    """``LOADER:PLACE?OPTION=VALUE&…``."""

    loader: str
    place: str
    options: Mapping[str, str]


def load_tasks(
    spec: str, *, limit: int | None = None, seed: int = 0, columns: Mapping[str, str] | None = None
) -> TaskSet:
    """The tasks that a spec names.

    Args:
        spec: See `LOADERS`; a file alone is one of the user's own.
        limit: At most so many tasks: a sample drawn by `seed`, in the order of the file, since files are sorted.
        seed: Of that sample, and of the order of options where a set is published with the right one first.
        columns: Field of a task → column, for files of the user's own; as in the spec's options, which it goes before.

    Raises:
        UsageError: A spec, place, option, column or limit that is wrong; says what there is.
        UnreachableError: A dataset of the hub that cannot be reached; says which file to put where.
        FileFormatError: A file that cannot be read, or that is not one of tasks; names the line.
        MissingExtraError: A Parquet file without pyarrow.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"limit={limit}: at least 1 task")
    parts = _parsed(spec)
    if columns and parts.loader not in _OWN:
        raise UsageError(f"{spec}: columns are for files of your own ({', '.join(_OWN)}), not for {parts.loader}")
    loaded = _load(parts, seed, columns or {})
    tasks = _sampled(loaded.tasks, limit, seed, spec)
    return TaskSet(
        name=loaded.name, tasks=tasks, fingerprint=fingerprint(tasks), licence=loaded.licence, source=loaded.source
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    name: str
    tasks: Sequence[Task]
    licence: str
    source: str


def _parsed(spec: str) -> _Spec:
    loader, _, rest = spec.partition(":")
    if loader not in LOADERS:
        own = next((name for name, suffixes in _OWN.items() if spec.partition("?")[0].endswith(suffixes)), None)
        if own is None:
            raise UnknownNameError("loader of tasks", loader, LOADERS)
        loader, rest = own, spec
    place, _, query = rest.partition("?")
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        if not equals or name in options:
            raise UsageError(f"{spec}: cannot read the option {part!r}; expected NAME=VALUE once. {LOADERS[loader]}")
        options[name] = unquote(value)
    return _Spec(loader=loader, place=place, options=options)


def _load(spec: _Spec, seed: int, columns: Mapping[str, str]) -> _Loaded:
    if spec.loader in _OWN:
        return _own(spec, columns)
    if spec.loader == "masbench":
        return _masbench(spec)
    if spec.options:
        raise UsageError(f"{spec.loader} takes no options, got {', '.join(spec.options)}. {LOADERS[spec.loader]}")
    published = PUBLISHED[spec.loader]
    rows = list(published.rows(spec.place))
    tasks = [published.to_task(row, seeds.rng(published.name, seed, row.number)) for row in rows]
    _check_ids(tasks, [row.place for row in rows])
    source = spec.place or published.hub_id
    return _Loaded(name=published.name, tasks=tasks, licence=published.licence, source=source)


def _masbench(spec: _Spec) -> _Loaded:
    if is_axis(spec.place):
        tasks = tuple(generated_tasks(spec.place, spec.options))
        source = f"generator {GENERATOR_VERSION}"
        return _Loaded(name=f"masbench:{spec.place}", tasks=tasks, licence="", source=source)
    if not spec.place or spec.options:
        raise UsageError(f"masbench:{spec.place}: {LOADERS['masbench']}")
    tasks = tuple(masbench_tasks(spec.place))
    _check_ids(tasks, [f"{spec.place}, row {number}" for number in range(1, len(tasks) + 1)])
    return _Loaded(name="masbench", tasks=tasks, licence="see the set's own card", source=spec.place)


def _own(spec: _Spec, columns: Mapping[str, str]) -> _Loaded:
    path = Path(spec.place)
    if not spec.place or not path.is_file():
        raise UsageError(f"{spec.loader}:{spec.place}: no such file. {LOADERS[spec.loader]}")
    if path.suffix not in _OWN[spec.loader]:
        known = " or ".join(_OWN[spec.loader])
        raise UsageError(f"{path}: {spec.loader} reads {known}; known kinds of file: {', '.join(FORMATS)}")
    options = dict(spec.options)
    kind = options.pop("kind") if options.get("kind") in KINDS else None  # else it is the column with the kinds
    rows = list(read_rows(path))
    tasks = own_tasks(rows, name=path.stem, columns={**options, **columns}, kind=kind)
    _check_ids(tasks, [row.place for row in rows])
    return _Loaded(name=path.stem, tasks=tasks, licence="", source=str(path))


def _check_ids(tasks: Sequence[Task], places: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for task, place in zip(tasks, places, strict=True):
        if task.id in seen:
            raise FileFormatError(f"{place}: the id {task.id!r} is that of {seen[task.id]} too; ids must be unique")
        seen[task.id] = place


def _sampled(tasks: Sequence[Task], limit: int | None, seed: int, spec: str) -> tuple[Task, ...]:
    if not tasks:
        raise UsageError(f"{spec}: no tasks")
    if limit is None or limit >= len(tasks):
        return tuple(tasks)
    chosen = seeds.rng("tasks", "sample", seed).sample(range(len(tasks)), limit)
    return tuple(tasks[number] for number in sorted(chosen))
