"""Reads rows back: ours in every format, and the published set, from a file, a folder or a hub id."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from mas_orchestra.errors import FileFormatError, MissingExtraError, UsageError
from mas_orchestra.masbench.export import ANSWER_DELIMITER
from mas_orchestra.masbench.hub import fetch
from mas_orchestra.masbench.problem import Problem
from mas_orchestra.masbench.row_files import row_files

__all__ = ["BenchRow", "load"]

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRow:
    """A question with its reference answers, whoever made it.

    Attributes:
        value: On the axis; ``None`` where the row has none.
        split: ``train``, ``test`` or empty when neither the row nor its file's name says.
        answers: As text, in the order asked.
        problem: The full row with its certificate; ``None`` for rows that are not ours.
    """

    id: str
    axis: str
    value: int | None
    split: str
    question: str
    answers: tuple[str, ...]
    problem: Problem | None = None


def load(source: str | Path, *, axis: str | None = None, split: str | None = None) -> Iterator[BenchRow]:
    """The rows of a file, of every file in a folder, or of a dataset on the hub, one at a time.

    Args:
        source: A ``.jsonl`` or ``.parquet`` file, a folder of them, or ``owner/name`` on the hub when there is no such
            path (the files are downloaded once and kept).
        axis: Only rows of this axis.
        split: Only rows of this split.

    Raises:
        UsageError: No such path, or a folder without rows.
        UnreachableError: The hub cannot be reached; says which file to put where.
        FileFormatError: A row that is not one; names the file and the row.
        MissingExtraError: Parquet without pyarrow.
    """
    rows = chain.from_iterable(map(_rows, _files(source)))
    return (row for row in rows if axis in {None, row.axis} and split in {None, row.split})


def _files(source: str | Path) -> list[Path]:
    path = Path(source)
    if not path.exists():
        if not _HUB_ID.fullmatch(str(source)):
            raise UsageError(f"{source}: no such path; give a .jsonl or .parquet file, a folder of them, or owner/name")
        path = fetch(str(source))
    return row_files(path)


def _rows(path: Path) -> Iterator[BenchRow]:
    for number, record in enumerate(_records(path), 1):
        try:
            yield _row(record, path, number)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{path}, row {number}: neither ours nor of the published set ({_reason(error)}). Expected "
                "the keys of `Problem`, or the columns prompt_json and reward_model_json, or question and answer."
            ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"{type(error).__name__}: {error}"


def _records(path: Path) -> Iterator[dict[str, Any]]:
    return _parquet_records(path) if path.suffix == ".parquet" else _json_records(path)


def _json_records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    record = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise FileFormatError(f"{path}, line {number}: not JSON ({error}); one row a line") from error
                if not isinstance(record, dict):
                    raise FileFormatError(f"{path}, line {number}: expected an object, got {type(record).__name__}")
                yield record


def _parquet_records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(f"reading {path}", "bench") from error
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=256):
                yield from batch.to_pylist()
    except pa.ArrowInvalid as error:
        raise FileFormatError(f"{path}: not a parquet file ({error}); download or build it again") from error


def _row(record: dict[str, Any], path: Path, number: int) -> BenchRow:
    if "generator_version" in record:
        return _ours(Problem.model_validate_json(orjson.dumps(record)))
    if (ours := _own_record(record)) is not None:
        return _ours(Problem.model_validate_json(orjson.dumps(ours)))
    if "prompt_json" in record:
        return _published(record, path, number)
    return _plain(record, path, number)


def _own_record(record: dict[str, Any]) -> dict[str, Any] | None:
    """The whole row of ours that an exported one carries."""
    data = orjson.loads(record.get("data") or "null")
    whole = data.get("problem", data) if isinstance(data, dict) else None
    return whole if isinstance(whole, dict) and "generator_version" in whole else None


def _ours(problem: Problem) -> BenchRow:
    return BenchRow(
        id=problem.id,
        axis=problem.axis.value,
        value=problem.value,
        split=problem.split.value,
        question=problem.question,
        answers=tuple(map(str, problem.answers)),
        problem=problem,
    )


def _published(record: dict[str, Any], path: Path, number: int) -> BenchRow:
    questions = [turn["content"] for turn in orjson.loads(record["prompt_json"]) if turn["role"] == "user"]
    truth = orjson.loads(record["reward_model_json"])["ground_truth"]
    return _foreign(record, path, number, question=questions[-1], answers=str(truth).split(ANSWER_DELIMITER))


def _plain(record: dict[str, Any], path: Path, number: int) -> BenchRow:
    answer = record["answers"] if "answers" in record else record["answer"]
    answers = answer if isinstance(answer, list) else [answer]
    return _foreign(record, path, number, question=record["question"], answers=answers)


def _foreign(record: dict[str, Any], path: Path, number: int, *, question: str, answers: list[Any]) -> BenchRow:
    value = record.get("value")
    name = path.stem.split("-")[0]
    axis = str(record.get("axis") or path.parent.name)
    return BenchRow(
        id=str(record.get("id") or f"{axis}-{path.stem}-{number}"),
        axis=axis,
        value=None if value in {None, ""} else int(value),
        split=str(record.get("split") or (name if name in {"train", "test"} else "")),
        question=str(question),
        answers=tuple(str(answer).strip() for answer in answers),
    )
