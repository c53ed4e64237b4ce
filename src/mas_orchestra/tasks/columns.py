"""Tasks from a file of one's own: which column is what, and what must be true of every row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.tasks.choices import letters_of, read_choices, with_choices
from mas_orchestra.tasks.rows import Row
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import JsonValue

__all__ = ["FIELDS", "KINDS", "own_tasks"]

FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "task_id", "question_id"),
    "question": ("question", "problem", "prompt", "query"),
    "answer": ("answer", "answers", "target", "gold"),
    "aliases": ("aliases",),
    "choices": ("choices", "options"),
    "kind": ("kind",),
}
"""What a task is made of → the columns that are taken for it when none is named."""

KINDS = ("mathematics", "masbench", "choice", "text", "judge")
"""Kinds that have a scorer in `mas_orchestra.score`."""

_REQUIRED = ("question", "answer")
_LISTS = ("text", "masbench")
"""Kinds in which a list is one answer: all of its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Columns:
    """The column of each field; a field without one is absent."""

    names: Mapping[str, str]

    def value(self, row: Row, field: str) -> JsonValue:
        return row.record.get(self.names[field]) if field in self.names else None


def own_tasks(rows: Iterable[Row], *, name: str, columns: Mapping[str, str], kind: str | None = None) -> list[Task]:
    """One task a row; columns that are nobody's field go into the metadata.

    Without a kind, neither given nor in a column, a row with options is of kind ``choice``, one whose answer is a
    number of kind ``mathematics``, and any other of kind ``text``; what most need is to say it.

    Args:
        rows: Of one file.
        name: Before the row's number, the id of a row without one.
        columns: Field → column, where it is not one of `FIELDS`.
        kind: Of every task.

    Raises:
        UnknownNameError: A field or a kind that there is not, or a column that the file does not have.
        FileFormatError: A row without question or answer, or answers of different types; names both rows.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownNameError("task kind", kind, KINDS)
    tasks: list[Task] = []
    seen_types: dict[str, Row] = {}
    mapped: _Columns | None = None
    for row in rows:
        mapped = mapped or _map(row, columns)
        _check_type(mapped.value(row, "answer"), row, seen_types)
        tasks.append(_task(row, mapped, name=name, kind=kind))
    return tasks


def _map(first: Row, columns: Mapping[str, str]) -> _Columns:
    for field, column in columns.items():
        if field not in FIELDS:
            raise UnknownNameError("field of a task", field, FIELDS)
        if column not in first.record:
            raise UnknownNameError(f"column for {field} in {first.file}:", column, first.record)
    names = dict(columns)
    for field, usual in FIELDS.items():
        taken = next((column for column in usual if column in first.record), None)
        if field not in names and taken is not None:
            names[field] = taken
    for field in _REQUIRED:
        if field not in names:
            raise UsageError(
                f"{first.place}: no column for the {field}: its columns are {', '.join(first.record) or 'none'}. "
                f"Name it, as {field}=COLUMN."
            )
    return _Columns(names=names)


def _check_type(answer: JsonValue, row: Row, seen: dict[str, Row]) -> None:
    if answer is None:
        return
    kind = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}.get(type(answer))
    if kind is None:
        raise FileFormatError(f"{row.place}: the answer is {type(answer).__name__}; give text, a number or a list")
    seen.setdefault(kind, row)
    if len(seen) > 1:
        (first, first_row), (other, _) = list(seen.items())[:2]
        raise FileFormatError(
            f"{row.place}: the answer is {other}, but {first} in {first_row.place}; write all answers in one way"
        )


def _task(row: Row, columns: _Columns, *, name: str, kind: str | None) -> Task:
    question = _text(columns.value(row, "question"), row, "question")
    task_kind = kind or _text_or_none(columns.value(row, "kind")) or _kind(row, columns)
    if task_kind not in KINDS:
        raise UnknownNameError(f"task kind in {row.place}:", task_kind, KINDS)
    used = set(columns.names.values())
    metadata: dict[str, JsonValue] = {
        key: value for key, value in row.record.items() if key not in used and value is not None
    }
    answer = columns.value(row, "answer")
    answers: tuple[str, ...]
    if task_kind == "choice":
        options = read_choices(columns.value(row, "choices"), row)
        question, answers = with_choices(question, options), (letters_of(answer, options, row),)
        metadata["choices"] = [*options]
    elif task_kind in _LISTS and isinstance(answer, list):
        answers = tuple(_text(item, row, "answer") for item in answer)
        metadata |= {"answer_form": "list"} if task_kind == "text" else {}
    else:
        aliases = columns.value(row, "aliases") or []
        answers = tuple(
            _text(item, row, "answer") for item in [answer, *(aliases if isinstance(aliases, list) else [aliases])]
        )
    return Task(
        id=_text_or_none(columns.value(row, "id")) or f"{name}-{row.number}",
        question=question,
        answers=answers,
        kind=task_kind,
        metadata=metadata,
    )


def _kind(row: Row, columns: _Columns) -> str:
    if columns.value(row, "choices"):
        return "choice"
    answer = columns.value(row, "answer")
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return "mathematics" if is_number or _is_number(answer) else "text"


def _is_number(answer: JsonValue) -> bool:
    try:
        return isinstance(answer, str) and bool(answer.strip()) and float(answer) == float(answer)
    except ValueError:
        return False


def _text_or_none(value: JsonValue) -> str | None:
    return None if value is None or not str(value).strip() else str(value).strip()


def _text(value: JsonValue, row: Row, field: str) -> str:
    if isinstance(value, list | dict):
        raise FileFormatError(f"{row.place}: the {field} is a {type(value).__name__}; expected text or a number")
    text = _text_or_none(value)
    if text is None:
        raise FileFormatError(f"{row.place}: no {field}; fill it, or remove the row")
    return text
