"""Numbers as a report prints them: never 0 for something unknown, never exact for something estimated.

A number, its unit and its bounds stay on one line: the blanks between them do not break.
"""

import math

from mas_orchestra.evaluate.statistics import Interval
from mas_orchestra.types import Usage

__all__ = ["bounds", "dollars", "percent", "percent_interval", "points", "ratio", "seconds", "share", "tokens"]

UNKNOWN = "unknown"
NONE = "–"
"""Printed where a number is not defined: no attempt, a single task, no plan."""
_JOINED = "\N{NO-BREAK SPACE}"


def dollars(cost_usd: float | None) -> str:
    """A price in US dollars.

    >>> dollars(None), dollars(0.0), dollars(0.00031), dollars(0.1849), dollars(1234.5)
    ('unknown', '$0', '$0.00031', '$0.185', '$1,234.50')
    """
    if cost_usd is None:
        return UNKNOWN
    if math.isnan(cost_usd):
        return NONE
    if cost_usd == 0:
        return "$0"
    return f"${cost_usd:,.2f}" if cost_usd >= 1 else f"${cost_usd:.3g}"


def percent(value: float) -> str:
    r"""A share of one.

    >>> percent(0.625), percent(math.nan)
    ('62.5\xa0%', '–')
    """
    return NONE if math.isnan(value) else f"{100 * value:.1f}{_JOINED}%"


def bounds(low: str, high: str) -> str:
    r"""An interval.

    >>> bounds("−0.1", "+9.5")
    '[−0.1,\xa0+9.5]'
    """
    return f"[{low},{_JOINED}{high}]"


def percent_interval(interval: Interval) -> str:
    r"""An estimate and its bounds.

    >>> percent_interval(Interval(mean=0.5, low=0.25, high=0.75, tasks=9))
    '50.0\xa0% [25.0,\xa075.0]'
    >>> percent_interval(Interval(mean=1.0, low=math.nan, high=math.nan, tasks=1))
    '100.0\xa0% [one task: no interval]'
    """
    if math.isnan(interval.mean):
        return NONE
    if math.isnan(interval.low):
        return f"{percent(interval.mean)} [one task: no interval]"
    return f"{percent(interval.mean)} {bounds(f'{100 * interval.low:.1f}', f'{100 * interval.high:.1f}')}"


def points(difference: float) -> str:
    """A difference of two shares, in percentage points.

    >>> points(-0.042), points(-0.0001), points(math.nan)
    ('−4.2', '0.0', '–')
    """
    if math.isnan(difference):
        return NONE
    return f"{100 * difference:+.1f}".replace("-", "−") if abs(difference) >= 0.0005 else "0.0"


def ratio(interval: Interval | None) -> str:
    r"""One cost over another, with its bounds.

    >>> ratio(Interval(mean=3.14, low=2.9, high=3.4, tasks=9)), ratio(None)
    ('3.14× [2.90,\xa03.40]', 'unknown')
    """
    if interval is None:
        return UNKNOWN
    if math.isnan(interval.mean):
        return NONE
    shown = f"{interval.mean:.2f}×"
    return shown if math.isnan(interval.low) else f"{shown} {bounds(f'{interval.low:.2f}', f'{interval.high:.2f}')}"


def seconds(duration_s: float) -> str:
    r"""A duration.

    >>> seconds(0.0312), seconds(3.21), seconds(math.nan)
    ('0.031\xa0s', '3.2\xa0s', '–')
    """
    if math.isnan(duration_s):
        return NONE
    return (f"{duration_s:,.1f}" if duration_s >= 1 else f"{duration_s:.2g}") + f"{_JOINED}s"


def share(part: int, whole: int) -> str:
    r"""A count with its share of a whole.

    >>> share(3, 12), share(0, 0)
    ('3 of 12 (25.0\xa0%)', '–')
    """
    return f"{part:,} of {whole:,} ({percent(part / whole)})" if whole else NONE


def tokens(usage: Usage) -> str:
    """All tokens; "at least" where an endpoint reported none.

    >>> tokens(Usage(input_tokens=5_005, output_tokens=1_744, estimated=True))
    'at least 6,749'
    """
    return f"{'at least ' if usage.estimated else ''}{usage.total_tokens:,}"
