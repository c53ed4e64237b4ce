"""``mas bench load|show|stats``: looks at sets of problems, ours and the published one."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mas_orchestra.cli.bench_options import (
    AsJson,
    OneAxis,
    OneSplit,
    SizeOption,
    Source,
    StyleOption,
    read_parameters,
    write_page,
)
from mas_orchestra.cli.deliver import print_json, print_text
from mas_orchestra.errors import FileFormatError, UsageError
from mas_orchestra.masbench.problem import AttackKind, Axis, Split, Style

if TYPE_CHECKING:
    from mas_orchestra.masbench.load import BenchRow
    from mas_orchestra.masbench.problem import Problem
    from mas_orchestra.masbench.statistics import SetStatistics

__all__ = ["rows_app"]

rows_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

SHOW_EXAMPLES = """\b
Examples:
  mas bench show --axis depth --value 4
  mas bench show --axis robustness --value 3 --attack injection --mermaid
  mas bench show data/masbench/depth/test.jsonl --row 5
"""
LOAD_EXAMPLES = """\b
Examples:
  mas bench load data/masbench
  mas bench load data/masbench --axis depth --split test --out depth.jsonl
  mas bench load Salesforce/MASBench --json
"""
STATS_EXAMPLES = """\b
Examples:
  mas bench stats data/masbench
  mas bench stats data/masbench --axis depth --figure depth.svg
  mas bench stats data/masbench --json
"""


@rows_app.command(epilog=LOAD_EXAMPLES)
def load(
    source: Source,
    *,
    axis: OneAxis = None,
    split: OneSplit = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows there as JSON lines.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read a set, ours or the published one, and say what is in it."""
    from mas_orchestra.masbench.load import load as load_rows
    from mas_orchestra.masbench.statistics import SetStatistics

    statistics = SetStatistics()
    rows = load_rows(source, axis=axis, split=split)
    for row in rows if out is None else _copied(rows, out):
        statistics.add(row)
    _must_hold_rows(statistics, source, axis, split)
    if as_json:
        document = statistics.document()
        print_json({"source": source, "rows": document["rows"], "groups": document["groups"]})
    else:
        print_text(_table(statistics))


def _must_hold_rows(statistics: "SetStatistics", source: str, axis: str | None, split: Split | None) -> None:
    if not statistics.rows:
        wanted = "".join([f" of axis {axis}"] * (axis is not None) + [f" of split {split}"] * (split is not None))
        raise UsageError(f"{source} holds no row{wanted}; see what is there with: mas bench load {source}")


def _copied(rows: Iterator["BenchRow"], out: Path) -> Iterator["BenchRow"]:
    """The rows as they pass; the file appears under its name when all are in it."""
    import orjson

    unfinished = out.with_name(f".{out.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            for row in rows:
                file.write(row.problem.model_dump_json().encode() if row.problem else orjson.dumps(row))
                file.write(b"\n")
                yield row
        unfinished.replace(out)
    except OSError as error:
        raise FileFormatError(f"cannot write {out}: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _table(statistics: "SetStatistics") -> str:
    groups = statistics.document()["groups"]
    assert isinstance(groups, list)  # noqa: S101  (tells the type checker what `document` holds)
    lines = [f"{'axis':<20} {'value':>5} {'split':<6} {'rows':>9}"]
    for group in groups:
        assert isinstance(group, dict)  # noqa: S101  (as above)
        lines.append(f"{group['axis']:<20} {group['value']:>5} {group['split']:<6} {group['rows']:>9,}")
    return "\n".join([*lines, f"{'':<33} {statistics.rows.total():>9,}"])


@rows_app.command(epilog=SHOW_EXAMPLES)
def show(
    source: Annotated[
        str | None, typer.Argument(metavar="PATH|HUB-ID", help="A set; without it a problem is made.")
    ] = None,
    *,
    row: Annotated[int, typer.Option(min=0, help="Which row of the set, or which index to make.")] = 0,
    axis: Annotated[Axis | None, typer.Option(help="Only rows of this axis; the axis to make (depth).")] = None,
    value: Annotated[int | None, typer.Option(help="Only rows of this value; the value to make (4).")] = None,
    split: OneSplit = None,
    size: SizeOption = None,
    style: StyleOption = Style.EXACT,
    attack: Annotated[AttackKind | None, typer.Option(help="Default: note, for the axis robustness.")] = None,
    needle: Annotated[bool, typer.Option("--needle", help="With retrieval segments.")] = False,
    abstract: Annotated[bool, typer.Option("--abstract", help="With category totals.")] = False,
    as_mermaid: Annotated[bool, typer.Option("--mermaid", help="Print only the graph, as Mermaid.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the row as one JSON object.")] = False,
) -> None:
    """Show one problem: its text, its answers and its graph."""
    from mas_orchestra.masbench.axes import sweep
    from mas_orchestra.masbench.generate import Recipe, generate

    if source is not None:
        _show_row(_nth(source, row, axis, value, split), as_mermaid=as_mermaid, as_json=as_json)
        return
    if size is not None and (value is not None or axis not in {None, Axis.COMBINE}):
        raise UsageError("--size is for the axis combine, which has no values: leave out --axis and --value, or --size")
    axis = axis or (Axis.DEPTH if size is None else Axis.COMBINE)
    value = 4 if value is None and size is None else value
    parameters = sweep(axis, [value])[value] if value is not None else read_parameters(size or "")
    recipe = Recipe(
        axis=axis,
        parameters=parameters,
        value=value,
        split=split or Split.TEST,
        style=style,
        attack=attack or (AttackKind.NOTE if parameters.r or needle else None),
        needle=needle,
        abstract=abstract,
    )
    _show_problem(generate(recipe, row), as_mermaid=as_mermaid, as_json=as_json)


def _nth(source: str, number: int, axis: Axis | None, value: int | None, split: Split | None) -> "BenchRow":
    from itertools import islice

    from mas_orchestra.masbench.load import load as load_rows

    rows = (row for row in load_rows(source, axis=axis, split=split) if value in {None, row.value})
    found = next(islice(rows, number, None), None)
    if found is None:
        raise UsageError(f"{source} has no row {number} (the first is 0) like that; see: mas bench load {source}")
    return found


def _show_row(row: "BenchRow", *, as_mermaid: bool, as_json: bool) -> None:
    if row.problem is not None:
        _show_problem(row.problem, as_mermaid=as_mermaid, as_json=as_json)
    elif as_mermaid:
        raise UsageError(f"row {row.id} carries no graph: it is not one of ours; read it with: mas bench analyze FILE")
    elif as_json:
        document = {"id": row.id, "axis": row.axis, "value": row.value, "split": row.split}
        print_json({**document, "question": row.question, "answers": list(row.answers)})
    else:
        print_text(f"{row.id}\n\n{row.question}\n\nAnswers: {', '.join(row.answers)}")


def _show_problem(problem: "Problem", *, as_mermaid: bool, as_json: bool) -> None:
    from mas_orchestra.masbench.drawing import mermaid, outline

    if as_json:
        print_json(problem.model_dump(mode="json"))
    elif as_mermaid:
        print_text(mermaid(problem))
    else:
        measured = "  ".join(f"{name} {number}" for name, number in problem.measured.model_dump().items())
        answers = f"Answers: {', '.join(map(str, problem.answers))}"
        if problem.poisoned:
            answers += f"\nBelieving every false value: {', '.join(map(str, problem.poisoned.joint))}"
        print_text("\n\n".join([problem.id, problem.question, answers, outline(problem), measured]))


@rows_app.command(epilog=STATS_EXAMPLES)
def stats(
    source: Source,
    *,
    axis: OneAxis = None,
    split: OneSplit = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw the histograms into this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how answers, sizes and axes of a set are distributed."""
    from mas_orchestra.masbench.load import load as load_rows
    from mas_orchestra.masbench.statistics import count, draw_svg

    if figure is not None and figure.suffix != ".svg":
        raise UsageError(f"--figure {figure}: the picture is SVG; give a name that ends in .svg")
    statistics = count(load_rows(source, axis=axis, split=split))
    _must_hold_rows(statistics, source, axis, split)
    if figure is not None:
        write_page(draw_svg(statistics.histograms()), figure)
    if as_json:
        print_json(statistics.document())
    else:
        histograms = ["\n".join(histogram.lines()) for histogram in statistics.histograms()]
        print_text("\n\n".join([_table(statistics), *histograms]))
