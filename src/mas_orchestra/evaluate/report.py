"""Writes a report: one HTML file that stands alone, the same as Markdown, tables as CSV, figures as SVG and PNG."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mas_orchestra.errors import FileFormatError, MissingExtraError, UsageError
from mas_orchestra.evaluate.ablation import Fidelity
from mas_orchestra.evaluate.csv_files import csv_text
from mas_orchestra.evaluate.figure_style import png, svg, with_own_ids
from mas_orchestra.evaluate.report_markdown import markdown
from mas_orchestra.evaluate.report_page import QUESTION, Page, Shown, page
from mas_orchestra.evaluate.results import RunResults
from mas_orchestra.evaluate.scoreboard import MARGIN
from mas_orchestra.evaluate.tables import Record
from mas_orchestra.plan.render import RenderFormat, render

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["write_report"]

_MOST_DRAWN = 60
"""Steps of the largest plan that is drawn; a larger one would be no picture."""


def write_report(
    results: Sequence[RunResults],
    out: Path,
    *,
    margin: float = MARGIN,
    fidelity: Mapping[str, Fidelity] | None = None,
) -> Path:
    """The path of ``report.html`` in the folder `out`, with ``report.md``, ``tables/`` and ``figures/`` beside it.

    The HTML opens from disk without a network and holds no script; whatever users and models wrote is escaped. The
    same runs give the same bytes. Files of an earlier report of the same names are replaced.

    Args:
        results: One run, or several to compare.
        out: Folder, made if needed.
        margin: Smallest difference in accuracy that matters, as a share.
        fidelity: Ablation fidelity by the system's name, where it was measured (`ablation_fidelity`).

    Raises:
        UsageError: No run at all.
        MissingExtraError: The extra ``eval`` is not installed.
        FileFormatError: A file cannot be written.
    """
    if not results:
        raise UsageError("there is no run to report: name at least one run folder")
    if not all(map(find_spec, ("matplotlib", "scipy"))):
        raise MissingExtraError("a report", "eval")
    content = page(results, fidelity or {}, margin=margin)
    try:
        for name, data in _files(content):
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Half of a surrogate pair, which models do write, has no place in UTF-8.
            path.write_bytes(data.encode(errors="replace") if isinstance(data, str) else data)
    except OSError as error:
        raise FileFormatError(f"the report cannot be written to {out}: {error}") from error
    return out / "report.html"


def _files(content: Page) -> Iterator[tuple[str, str | bytes]]:
    """Every file of a report by its path in the folder; the HTML last, so that it never points to nothing."""
    records: dict[str, list[Record]] = {}
    for table in content.tables:
        records.setdefault(table.name, []).extend(table.records)
    for name, lines in records.items():
        yield f"tables/{name}.csv", csv_text(lines)
    figures = {drawing.name: svg(drawing) for drawing in content.drawings}
    for drawing in content.drawings:
        yield f"figures/{drawing.name}.svg", figures[drawing.name]
        yield f"figures/{drawing.name}.png", png(drawing)
    yield "report.md", markdown(content)
    yield "report.html", _html(content, figures)


def _html(content: Page, figures: Mapping[str, str]) -> str:
    template = _environment().get_template("report.html.jinja")
    return template.render(
        page=content,
        question=QUESTION,
        figures=figures,
        plans=[_plan(number, shown) for number, shown in enumerate(content.examples)],
    )


def _plan(number: int, shown: Shown) -> str | None:
    plan = shown.example.attempt.plan
    if plan is None or len(plan.steps) > _MOST_DRAWN:
        return None
    return with_own_ids(render(plan, RenderFormat.SVG), f"plan{number}")


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
