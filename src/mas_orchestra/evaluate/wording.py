"""Numbers as a report prints them: never 0 for something unknown, never exact for something estimated."""

import math

from mas_orchestra.evaluate.statistics import Interval
from mas_orchestra.types import Usage

__all__ = ["dollars", "percent", "percent_interval", "points", "ratio", "seconds", "share", "tokens"]

UNKNOWN = "unknown"
NONE = "–"
"""Printed where a number is not defined: no attempt, a single task, no plan."""


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
    """A share of one.

    >>> percent(0.625), percent(math.nan)
    ('62.5 %', '–')
    """
    return NONE if math.isnan(value) else f"{100 * value:.1f} %"


def percent_interval(interval: Interval) -> str:
    """An estimate and its bounds.

    >>> percent_interval(Interval(mean=0.5, low=0.25, high=0.75, tasks=9))
    '50.0 % [25.0, 75.0]'
    >>> percent_interval(Interval(mean=1.0, low=math.nan, high=math.nan, tasks=1))
    '100.0 % [one task: no interval]'
    """
    if math.isnan(interval.mean):
        return NONE
    if math.isnan(interval.low):
        return f"{percent(interval.mean)} [one task: no interval]"
    return f"{percent(interval.mean)} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def points(difference: float) -> str:
    """A difference of two shares, in percentage points.

    >>> points(-0.042), points(math.nan)
    ('−4.2', '–')
    """
    return NONE if math.isnan(difference) else f"{100 * difference:+.1f}".replace("-", "−")


def ratio(interval: Interval | None) -> str:
    """One cost over another, with its bounds.

    >>> ratio(Interval(mean=3.14, low=2.9, high=3.4, tasks=9)), ratio(None)
    ('3.14× [2.90, 3.40]', 'unknown')
    """
    if interval is None:
        return UNKNOWN
    if math.isnan(interval.mean):
        return NONE
    bounds = "" if math.isnan(interval.low) else f" [{interval.low:.2f}, {interval.high:.2f}]"
    return f"{interval.mean:.2f}×{bounds}"


def seconds(duration_s: float) -> str:
    """A duration.

    >>> seconds(0.0312), seconds(3.21), seconds(math.nan)
    ('0.031 s', '3.2 s', '–')
    """
    if math.isnan(duration_s):
        return NONE
    return f"{duration_s:,.1f} s" if duration_s >= 1 else f"{duration_s:.2g} s"


def share(part: int, whole: int) -> str:
    """A count with its share of a whole.

    >>> share(3, 12), share(0, 0)
    ('3 of 12 (25.0 %)', '–')
    """
    return f"{part:,} of {whole:,} ({percent(part / whole)})" if whole else NONE


def tokens(usage: Usage) -> str:
    """All tokens; "at least" where an endpoint reported none.

    >>> tokens(Usage(input_tokens=5_005, output_tokens=1_744, estimated=True))
    'at least 6,749'
    """
    return f"{'at least ' if usage.estimated else ''}{usage.total_tokens:,}"
