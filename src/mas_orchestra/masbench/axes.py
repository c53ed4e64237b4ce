"""The axes: which parameters each sweep takes, and which are feasible at all."""

from collections.abc import Callable, Iterable

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench.problem import Axis, Parameters

__all__ = ["MAIN_AXES", "VALUES", "check", "sweep"]

MAIN_AXES = (Axis.DEPTH, Axis.BREADTH, Axis.HORIZON, Axis.PARALLEL, Axis.ROBUSTNESS)
"""The five axes of the paper."""

VALUES = range(2, 13)
"""Of every sweep, but for depth at a fixed size, which starts at 3."""

_SWEEPS: dict[Axis, Callable[[int], Parameters]] = {
    Axis.DEPTH: lambda value: Parameters(d=value, b=2, n=value + 1, T=24),
    Axis.DEPTH_FIXED_SIZE: lambda value: Parameters(d=value, b=4, n=16, T=24),
    Axis.BREADTH: lambda value: Parameters(d=5, b=value, n=20, T=32),
    Axis.HORIZON: lambda value: Parameters(d=13, b=2, n=16, T=24, h=value),
    Axis.PARALLEL: lambda value: Parameters(d=3, b=2, n=5, T=5 * value + 4, p=value),
    Axis.PARALLEL_FIXED_SIZE: lambda value: Parameters(d=3, b=2, n=5, T=64, p=value),
    Axis.ROBUSTNESS: lambda value: Parameters(d=13, b=2, n=16, T=24, h=12, r=value),
}
"""What is not the axis is held where that is possible; `depth` must grow n, its fixed-size twin starts at 3."""


def sweep(axis: Axis, values: Iterable[int] | None = None) -> dict[int, Parameters]:
    """The parameters of each value of a sweep, by default of all that it has.

    Raises:
        UsageError: A value that the sweep does not have, or the axis ``combine``, which has no sweep.

    >>> sweep(Axis.PARALLEL, [3])[3]
    Parameters(d=3, b=2, n=5, T=19, h=1, p=3, r=0)
    """
    if axis not in _SWEEPS:
        raise UsageError(f"axis {axis} has no sweep: give its parameters d, b, n, T, h, p and r instead of values")
    lowest = 3 if axis is Axis.DEPTH_FIXED_SIZE else VALUES.start
    highest = VALUES.stop - 1
    values = range(lowest, highest + 1) if values is None else tuple(values)
    for value in values:
        if not lowest <= value <= highest:
            raise UsageError(f"axis {axis} has no value {value}: its sweep goes from {lowest} to {highest}")
    return {value: _SWEEPS[axis](value) for value in values}


def check(parameters: Parameters, *, abstract: bool = False) -> None:
    """Accepts exactly the feasible parameters.

    Raises:
        UsageError: States the bound that is broken and the nearest value that is not.
    """
    d, b, n = parameters.d, parameters.b, parameters.n
    if d < 2:
        raise UsageError(f"depth d={d}: at least 2, a constant and something computed from it; use d=2 or more")
    if abstract and d < 3:
        raise UsageError(
            f"depth d={d}: category totals need d of 3 or more, since the links beside a total carry operators"
        )
    if b == 1 and n != d:
        raise UsageError(f"needed quantities n={n}: with breadth b=1 a problem is a chain, so n must be d={d}")
    if n < d + b - 1:
        raise UsageError(
            f"needed quantities n={n}: depth d={d} and breadth b={b} need at least d+b-1; use n={d + b - 1} or more"
        )
    if b > 1 and n > (most := _most_needed(d, b, n)):
        raise UsageError(
            f"needed quantities n={n}: depth d={d} and breadth b={b} hold at most (b^d-1)/(b-1)={most}; "
            f"use n={most} or less and fill up with distractors (T), or raise d or b"
        )
    _check_text(parameters)


def _most_needed(d: int, b: int, n: int) -> int:
    """Nodes of the full b-ary tree of depth d; `n` where that surely is more (the power would be huge)."""
    return n if d > n.bit_length() else (b**d - 1) // (b - 1)


def _check_text(parameters: Parameters) -> None:
    d, p, h, r = parameters.d, parameters.p, parameters.h, parameters.r
    if (least := parameters.n * p) > parameters.T:
        raise UsageError(f"statements T={parameters.T}: {p} component(s) of n={parameters.n} need T={least} or more")
    if h > d - 1:
        raise UsageError(
            f"horizon h={h}: depth d={d} has d-1={d - 1} computed quantities for sure; use h<={d - 1} or d={h + 1}"
        )
    if r > p * h:
        raise UsageError(f"robustness r={r}: only p*h={p * h} quantities are asked; use r={p * h} or less, or raise h")
