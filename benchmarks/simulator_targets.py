"""Accuracies of ONE agent that the simulated models are fitted to: by axis and value, all asked answers right.

MAS-Orchestra, section 5 and appendix C, read off its figures to about 0.005. No accuracy of several agents is here.
"""

from typing import TypeAlias

from mas_orchestra.masbench.problem import Axis

__all__ = ["HIGH_EFFORT", "STRONG", "WEAK", "Cell"]

Cell: TypeAlias = tuple[Axis, int]


def cells(axis: Axis, *accuracies: float) -> dict[Cell, float]:
    """Accuracies at the values 2, 4, 6, … of an axis."""
    return {(axis, 2 * place): accuracy for place, accuracy in enumerate(accuracies, start=1)}


WEAK: dict[Cell, float] = {
    **cells(Axis.DEPTH, 0.493, 0.351, 0.134, 0.080, 0.068, 0.050),
    **cells(Axis.BREADTH, 0.239, 0.127, 0.100, 0.101),
    **cells(Axis.PARALLEL, 0.296, 0.055, 0.000),
    **cells(Axis.HORIZON, 0.108, 0.019, 0.014, 0.005),
}
"""Qwen2.5-7B-Instruct."""
STRONG: dict[Cell, float] = {
    **cells(Axis.DEPTH, 0.861, 0.646, 0.317, 0.197, 0.175, 0.126),
    **cells(Axis.BREADTH, 0.499, 0.392, 0.250, 0.351),
    **cells(Axis.PARALLEL, 0.602, 0.118, 0.000),
    **cells(Axis.HORIZON, 0.316, 0.170, 0.105, 0.058),
    **cells(Axis.ROBUSTNESS, 0.003, 0.000, 0.000, 0.000),
}
"""gpt-oss-120b, low effort, 512 tokens a reply."""
HIGH_EFFORT: dict[Cell, float] = {
    **cells(Axis.DEPTH, 0.862),
    **cells(Axis.BREADTH, 0.531, 0.438, 0.270, 0.385),
    **cells(Axis.HORIZON, 0.354, 0.207, 0.161, 0.075),
    **cells(Axis.ROBUSTNESS, 0.079, 0.018, 0.011),
}
"""gpt-oss-120b, high effort, 120,000 tokens a reply."""
