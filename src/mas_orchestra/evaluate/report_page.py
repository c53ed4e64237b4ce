"""What a report says, before it is HTML or Markdown."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mas_orchestra.evaluate.ablation import Fidelity
from mas_orchestra.evaluate.comparison import Paired
from mas_orchestra.evaluate.diagnosis_table import diagnosis_table
from mas_orchestra.evaluate.diagnostics import diagnose
from mas_orchestra.evaluate.examples import Example, choose_examples
from mas_orchestra.evaluate.figure_style import Drawing, title
from mas_orchestra.evaluate.figures import draw_figures
from mas_orchestra.evaluate.results import RunResults
from mas_orchestra.evaluate.scoreboard import Scoreboard, scoreboard
from mas_orchestra.evaluate.tables import Table, axis_tables_of, comparison_table, scoreboard_table
from mas_orchestra.evaluate.wording import dollars, seconds, tokens

__all__ = ["QUESTION", "Page", "Provenance", "Shown", "page"]

QUESTION = (
    "Does a multi-agent system beat one well-prompted agent on these tasks, with these models, at what cost, and how "
    "sure is that?"
)
_LONGEST_TEXT = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An example attempt in words.

    Attributes:
        facts: Name and value, in order.
    """

    example: Example
    heading: str
    question: str
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where the numbers of one run come from."""

    run: str
    facts: Sequence[tuple[str, str]]
    config: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole report.

    Attributes:
        verdicts: Every comparison with the reference.
        summary: How much was measured.
        diagnostics: ``None`` when no system has plans.
    """

    title: str
    summary: str
    is_simulated: bool
    verdicts: Sequence[Paired]
    warnings: Sequence[str]
    scoreboard: Table
    comparisons: Table | None
    axes: Sequence[Table]
    diagnostics: Table | None
    drawings: Sequence[Drawing]
    examples: Sequence[Shown]
    provenance: Sequence[Provenance]

    @property
    def tables(self) -> list[Table]:
        """Every table, in the order of the report."""
        every = (self.scoreboard, self.comparisons, self.diagnostics, *self.axes)
        return [table for table in every if table is not None]


def page(results: Sequence[RunResults], fidelity: Mapping[str, Fidelity], *, margin: float) -> Page:
    """The report of these runs.

    Args:
        results: One run or more.
        fidelity: Ablation fidelity by a system's label, where it was measured.
        margin: Smallest difference that matters.
    """
    board = scoreboard(results, margin=margin)
    field = [row.entrant for row in board.rows]
    diagnoses = [diagnose(entrant) for entrant in field]
    names = ", ".join(run.name for run in results)
    return Page(
        title=title(f"Evaluation report: {names}", is_simulated=board.is_simulated),
        summary=_summary(results, board),
        is_simulated=board.is_simulated,
        verdicts=board.comparisons,
        warnings=board.warnings,
        scoreboard=scoreboard_table(board),
        comparisons=comparison_table(board) if board.comparisons else None,
        axes=axis_tables_of(board),
        diagnostics=diagnosis_table(diagnoses, fidelity, is_simulated=board.is_simulated),
        drawings=draw_figures(board, diagnoses),
        examples=[_shown(one) for one in choose_examples(field)],
        provenance=[_provenance(run) for run in results],
    )


def _summary(results: Sequence[RunResults], board: Scoreboard) -> str:
    tasks = len({key for row in board.rows for key in row.entrant.tasks})
    attempts = sorted({run.attempts_per_task for run in results})
    return (
        f"{len(board.rows)} systems, {tasks:,} tasks, {' or '.join(map(str, attempts))} attempts a task; a difference "
        f"of {100 * board.margin:g} points matters."
    )


def _shown(example: Example) -> Shown:
    attempt, task = example.attempt, example.task
    score = "none" if attempt.score is None else f"{attempt.score:g}"
    return Shown(
        example=example,
        heading=f"{example.entrant.shown}: {example.kind}",
        question=_cut(task.question),
        facts=(
            ("task", f"{task.id}, attempt {attempt.attempt}"),
            ("reference answers", _cut("; ".join(task.answers)) or "none"),
            ("answer", "none" if attempt.answer is None else _cut(attempt.answer)),
            ("score", f"{score} ({_cut(attempt.reason)})"),
            ("status", attempt.status.value + (f": {', '.join(attempt.fault_codes)}" if attempt.fault_codes else "")),
            ("took", f"{attempt.calls:,} calls, {tokens(attempt.usage)} tokens, {seconds(attempt.wall_s)}"),
            ("cost", dollars(attempt.cost_usd)),
        ),
    )


def _cut(text: str) -> str:
    rest = len(text) - _LONGEST_TEXT
    return text if rest <= 0 else f"{text[:_LONGEST_TEXT]} … [{rest:,} more characters]"


def _provenance(run: RunResults) -> Provenance:
    values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in run.facts.items()}
    return Provenance(run=run.name, facts=[(key, _cut(value)) for key, value in values.items()], config=run.config)
