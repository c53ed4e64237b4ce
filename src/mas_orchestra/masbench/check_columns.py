"""Whether the columns around a certificate, which are what a trainer reads, repeat it in every place."""

from collections.abc import Iterator, Mapping

import orjson

from mas_orchestra.masbench.export import training_record
from mas_orchestra.masbench.problem import Problem
from mas_orchestra.types import JsonObject, JsonValue

__all__ = ["column_faults"]

_PUBLISHED = ("reward_model", "extra_info", "prompt")
"""Parts of the record that the published layout keeps as JSON in columns of their own."""


def column_faults(columns: JsonObject, problem: Problem) -> Iterator[str]:
    """Every place in which the columns of an exported row differ from what its certificate gives.

    Columns that we do not write, as trainers add them, are left alone.
    """
    if not problem.id.rpartition("-")[2].isdecimal():
        return  # such an id is a fault of the certificate, and no record can be made from it
    expected = training_record(problem)
    if "prompt_json" not in columns:
        yield from _differences("column", expected, columns)
        return
    axis_and_value = {name: columns.get(name) for name in ("axis", "value")}
    opened = {name: _opened(columns.get(f"{name}_json")) for name in _PUBLISHED}
    yield from _differences(
        "column", {name: expected[name] for name in (*opened, *axis_and_value)}, opened | axis_and_value
    )
    record = expected.copy()
    for name in axis_and_value:
        del record[name]
    yield from _differences("column data", record, _opened(columns.get("data")))


def _differences(place: str, expected: object, stored: object) -> Iterator[str]:
    if isinstance(expected, Mapping) and isinstance(stored, Mapping):
        for key, value in expected.items():
            yield from _differences(f"{place} {key}", value, stored.get(key))
    elif expected != stored:
        yield f"{place}: the row says {str(stored)[:300]}, its certificate gives {str(expected)[:300]}"


def _opened(text: JsonValue) -> JsonValue:
    """What a column that is JSON holds; the text itself where it is not."""
    try:
        return orjson.loads(text) if isinstance(text, str) else text
    except orjson.JSONDecodeError:
        return text
