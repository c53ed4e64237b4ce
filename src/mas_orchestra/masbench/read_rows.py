"""Rows of a built or published set, one at a time: JSON lines, Parquet, or folders of them.

A row of ours has the keys of `Problem`. The published layout keeps everything in strings: the question in
`prompt_json`, the answers in `reward_model_json` (several joined by ``<<horizon>>``); where a row of ours was
exported that way, its whole record stands in `extra_info_json` or `data` and is read from there.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson

from mas_orchestra.errors import FileFormatError, MissingExtraError
from mas_orchestra.masbench.row_files import row_files
from mas_orchestra.types import JsonObject, JsonValue

__all__ = ["ANSWER_SEPARATOR", "Row", "read_row_line", "read_rows"]

ANSWER_SEPARATOR = "<<horizon>>"
"""Between the answers of one row in the published layout."""

_CERTIFICATE_KEYS = frozenset({"graph", "measured", "parameters", "poisoned", "generator_version"})
"""Keys that only a certificate has; two of them make one, so that a missing key is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row.

    Attributes:
        place: ``file:line`` (``file:row`` in Parquet), for messages.
        id: The row's own, else its place.
        question: What a model is shown.
        answers: As written; empty when the row gives none.
        columns: The whole record where a certificate is kept inside one of its columns.
        certificate: The record with the keys of `Problem`; ``None`` for a foreign row.
        fault: Why the row could not be read; everything else is then empty.
    """

    place: str
    id: str
    question: str = ""
    answers: tuple[str, ...] = ()
    columns: JsonObject | None = None
    certificate: JsonObject | None = None
    fault: str | None = None


def read_rows(path: Path) -> Iterator[Row]:
    """Every row below a path, in the order of the sorted file names; holds one batch in memory.

    Raises:
        UsageError: The path holds no rows, or an unfinished build.
        FileFormatError: A file cannot be read as rows at all.
        MissingExtraError: Parquet without pyarrow.
    """
    for file in row_files(path):
        yield from _parquet_rows(file) if file.suffix == ".parquet" else _jsonl_rows(file)


def read_row_line(line: bytes, place: str) -> Row:
    """The row that one JSON line holds."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Row(place=place, id=place, fault=f"not JSON ({error})")
    if not isinstance(record, dict):
        return Row(place=place, id=place, fault=f"expected a JSON object, got {type(record).__name__}")
    return _row(record, place)


def _jsonl_rows(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield read_row_line(line, f"{file}:{number}")
    except OSError as error:
        raise FileFormatError(f"{file}: cannot be read ({error.strerror or error})") from error


def _parquet_rows(file: Path) -> Iterator[Row]:
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise MissingExtraError(f"reading {file}", "bench") from error
    number = 0
    try:
        with ParquetFile(file) as parquet:
            for batch in parquet.iter_batches(batch_size=256):
                for record in batch.to_pylist():
                    number += 1
                    yield _row(record, f"{file}:{number}")
    except (ArrowInvalid, OSError) as error:
        raise FileFormatError(f"{file}: not a Parquet file that can be read, after row {number} ({error})") from error


def _row(record: JsonObject, place: str) -> Row:
    certificate = _certificate(record)
    question = record.get("question") or _asked_of_user(record)
    if not isinstance(question, str) or not question:
        keys = ", ".join(sorted(record)) or "none"
        return Row(place=place, id=place, fault=f"expected 'question', 'prompt' or 'prompt_json', got the keys {keys}")
    row_id = (certificate or record).get("id")
    return Row(
        place=place,
        id=row_id if isinstance(row_id, str) else place,
        question=question,
        answers=_answers(record),
        columns=None if certificate is None or certificate is record else record,
        certificate=certificate,
    )


def _certificate(record: JsonObject) -> JsonObject | None:
    """The record with our own keys: the row itself, or one kept whole inside a column."""
    if _is_certificate(record):
        return record
    for column in ("extra_info_json", "data"):
        outer = _decoded(record.get(column))
        for inner in (outer, *outer.values()):
            candidate = _decoded(inner)
            if _is_certificate(candidate):
                return candidate
            nested = [_decoded(value) for value in candidate.values()]
            if found := next((value for value in nested if _is_certificate(value)), None):
                return found
    return None


def _is_certificate(record: JsonObject) -> bool:
    return "question" in record and len(_CERTIFICATE_KEYS & record.keys()) > 1


def _decoded(value: object) -> dict[str, JsonValue]:
    """The JSON object that a value is, or that its text holds; empty for anything else."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, dict) else {}


def _asked_of_user(record: JsonObject) -> str:
    """The last message of the user in a published prompt."""
    prompt = record.get("prompt_json", record.get("prompt"))
    if isinstance(prompt, str) and prompt.startswith("["):
        try:
            prompt = orjson.loads(prompt)
        except orjson.JSONDecodeError:
            return ""
    messages = prompt if isinstance(prompt, list) else []
    contents = [
        entry.get("content") for entry in messages if isinstance(entry, Mapping) and entry.get("role") == "user"
    ]
    return contents[-1] if contents and isinstance(contents[-1], str) else ""


def _answers(record: JsonObject) -> tuple[str, ...]:
    found = record.get("answers", record.get("answer"))
    if found is None:
        reward = _decoded(record.get("reward_model_json", record.get("reward_model")))
        found = reward.get("ground_truth")
    if isinstance(found, list):
        return tuple(str(answer) for answer in found)
    return tuple(str(found).split(ANSWER_SEPARATOR)) if isinstance(found, str | int) else ()
