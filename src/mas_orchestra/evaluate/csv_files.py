"""Records as CSV that a spreadsheet opens without running anything in it."""

import csv
import io
import math
from collections.abc import Sequence

from mas_orchestra.evaluate.tables import Record

__all__ = ["csv_text"]

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_text(records: Sequence[Record]) -> str:
    r"""A header and one line a record, as RFC 4180 has it.

    A text that a spreadsheet could take for a formula starts with an apostrophe.

    >>> csv_text([{"system": "=HYPERLINK(1)", "difference": -0.5, "p": None}])
    "system,difference,p\r\n'=HYPERLINK(1),-0.5,\r\n"
    """
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(records[0]) if records else [])
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in record.items()} for record in records)
    return buffer.getvalue()


def _cell(value: str | float | bool | None) -> str | float | None:  # noqa: FBT001  (a cell's value, not a switch)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # Leading blanks do not keep a spreadsheet from seeing a formula.
    return f"'{value}" if isinstance(value, str) and value.lstrip(" ").startswith(_STARTS_A_FORMULA) else value
