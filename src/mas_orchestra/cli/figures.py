"""Numbers as people read them: never 0 for something unknown, never exact for something estimated."""

from mas_orchestra.run.outcome import Outcome
from mas_orchestra.types import Usage

__all__ = ["count", "money", "seconds", "tokens", "totals"]


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "call"), count(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def seconds(duration_s: float) -> str:
    """A duration.

    >>> seconds(0.004), seconds(3.21), seconds(75), seconds(3725)
    ('0.0 s', '3.2 s', '1 min 15 s', '1 h 2 min')
    """
    if duration_s < 59.95:
        return f"{duration_s:.1f} s"
    minutes, rest_s = divmod(round(duration_s), 60)
    return f"{minutes} min {rest_s} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def money(cost_usd: float | None) -> str:
    """A price in US dollars.

    >>> money(None), money(0.0), money(0.00031), money(0.1849), money(12.5)
    ('unknown', '$0', '$0.00031', '$0.1849', '$12.50')
    """
    if cost_usd is None:
        return "unknown"
    if cost_usd == 0:
        return "$0"
    if cost_usd >= 1:
        return f"${cost_usd:,.2f}"
    return f"${cost_usd:.4f}" if cost_usd >= 0.001 else f"${cost_usd:.2g}"


def tokens(usage: Usage) -> str:
    """All tokens, with their parts.

    >>> tokens(Usage(input_tokens=5_005, cache_read_tokens=257_955, output_tokens=1_744))
    '264,704 tokens (5,005 input, 257,955 from cache, 1,744 output)'
    >>> tokens(Usage(input_tokens=7, output_tokens=1, estimated=True))
    'at least 8 tokens (7 input, 1 output)'
    """
    parts = [f"{usage.input_tokens:,} input"]
    if usage.cache_read_tokens:
        parts.append(f"{usage.cache_read_tokens:,} from cache")
    if usage.cache_write_tokens:
        parts.append(f"{usage.cache_write_tokens:,} to cache")
    reasoning = f", {usage.reasoning_tokens:,} of it reasoning" if usage.reasoning_tokens else ""
    parts.append(f"{usage.output_tokens:,} output{reasoning}")
    bound = "at least " if usage.estimated else ""
    return f"{bound}{count(usage.total_tokens, 'token')} ({', '.join(parts)})"


def totals(outcome: Outcome) -> str:
    """What a run took: time, calls, tokens and money, in one line."""
    return ", ".join(
        (
            f"{seconds(outcome.wall_s)} (critical path {seconds(outcome.critical_path_s)})",
            count(outcome.calls, "call"),
            tokens(outcome.usage),
            f"cost {money(outcome.cost_usd)}",
        )
    )
