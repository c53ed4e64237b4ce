"""A report as Markdown: the same words and tables, figures by link, plans as Mermaid."""

import re
from collections.abc import Iterator, Sequence

from mas_orchestra.evaluate.report_page import QUESTION, Page, Provenance, Shown
from mas_orchestra.evaluate.tables import Table
from mas_orchestra.plan.render import RenderFormat, render

__all__ = ["markdown"]

_MARKS = re.compile(r"[\\`*_\[\]{}|#~$!<>&]")
_HTML = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def markdown(page: Page) -> str:
    """The whole report; what users and models wrote is escaped and can only be read."""
    return "\n".join(_lines(page)).rstrip() + "\n"


def _lines(page: Page) -> Iterator[str]:
    yield from (f"# {_plain(page.title)}", "", f"**{QUESTION}**", "", _plain(page.summary), "")
    yield from _table(page.scoreboard)
    yield from ("", "## Verdicts", "")
    yield from (f"- {_plain(one.names)}: **{_plain(one.conclusion)}**. {_plain(one.evidence)}" for one in page.verdicts)
    if not page.verdicts:
        yield "There is nothing to compare."
    if page.warnings:
        yield from ("", "Read this first:", "", *(f"- {_plain(warning)}" for warning in page.warnings))
    if page.comparisons is not None:
        yield from _table(page.comparisons)
    for drawing in page.drawings:
        image = f"![{_plain(drawing.title)}](figures/{drawing.name}.svg)"
        yield from ("", f"## {_plain(drawing.title)}", "", image, "", _plain(drawing.caption))
    for table in page.tables[1 if page.comparisons is None else 2 :]:
        yield from _table(table)
    yield from ("", "## Examples")
    for shown in page.examples:
        yield from _example(shown)
    yield from ("", "## Provenance")
    for one in page.provenance:
        yield from _provenance(one)


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"## {_plain(table.title)}", "", _row(table.headers), _row(["---"] * len(table.headers), raw=True))
    yield from (_row(row) for row in table.rows)
    yield from ("", _plain(table.note))


def _row(cells: Sequence[str], *, raw: bool = False) -> str:
    return f"| {' | '.join(cells if raw else map(_plain, cells))} |"


def _example(shown: Shown) -> Iterator[str]:
    yield from ("", f"### {_plain(shown.heading)}", "", *_fenced(shown.question, "text"), "")
    yield from (f"- {name}: {_plain(value)}" for name, value in shown.facts)
    if (plan := shown.example.attempt.plan) is not None:
        yield from ("", *_fenced(render(plan, RenderFormat.MERMAID), "mermaid"))


def _provenance(one: Provenance) -> Iterator[str]:
    yield from ("", f"### {_plain(one.run)}", "", *(f"- {_plain(name)}: {_plain(value)}" for name, value in one.facts))
    if one.config:
        yield from ("", *_fenced(one.config, "toml"))


def _fenced(text: str, language: str) -> tuple[str, ...]:
    """A code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{fence}{language}", text.rstrip("\n"), fence


def _plain(text: str) -> str:
    r"""One line in which no character means anything to Markdown or HTML.

    >>> _plain("a|b <i>\n*c*")
    'a\\|b &lt;i&gt; \\*c\\*'
    """
    return _MARKS.sub(lambda match: _HTML.get(match[0], f"\\{match[0]}"), " ".join(text.split()))
