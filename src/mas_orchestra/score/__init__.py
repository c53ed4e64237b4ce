"""Scores: how right an answer is, or why that cannot be said.

Read `base` first (what a score is), then `scoring` (the one entry) and `registry` (a scorer for each kind of task).
One scorer a file: `mathematics` (with `quantity`, `latex` and the processes of `math_workers`), `masbench`, `choice`,
`text`, `judge` (with `probes`); `final_answer` says where in a reply the answer stands, and `equivalence` which answers
are one answer in a vote.
"""

from mas_orchestra.score.base import Answered, Score, Scorer
from mas_orchestra.score.equivalence import MathematicsGrouping
from mas_orchestra.score.registry import Scorers
from mas_orchestra.score.scoring import score

__all__ = ["Answered", "MathematicsGrouping", "Score", "Scorer", "Scorers", "score"]
