"""``mas bench``: builds MASBENCH problems and looks at sets of them."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mas_orchestra.cli.bench_options import AsJson, SizeOption, StyleOption, read_parameters, read_values, write_page
from mas_orchestra.cli.bench_rows import rows_app
from mas_orchestra.cli.bench_text import text_app
from mas_orchestra.cli.boundary import complain
from mas_orchestra.cli.deliver import print_json, print_text
from mas_orchestra.errors import UsageError
from mas_orchestra.masbench.axes import MAIN_AXES
from mas_orchestra.masbench.export import Format
from mas_orchestra.masbench.problem import AttackKind, Axis, Style

if TYPE_CHECKING:
    from mas_orchestra.masbench.build import Progress
    from mas_orchestra.masbench.request import BuildReport, BuildRequest

__all__ = ["bench_app"]

bench_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

BUILD_EXAMPLES = """\b
Examples:
  mas bench build --out data/masbench
  mas bench build --out data/depth --axis depth --values 2..6 --train 2300 --test 230 --format hf
  mas bench build --out data/attacks --axis robustness --attack note --attack claim --workers 4
  mas bench build --out data/mixed --axis combine --size d=5,b=3,n=12,T=32,h=3,p=2,r=2
"""


@bench_app.callback()
def bench() -> None:
    """Build, verify and read MASBENCH problems."""


@bench_app.command(epilog=BUILD_EXAMPLES)
def build(
    out: Annotated[Path, typer.Option(metavar="DIR", help="A new folder; the same build started again goes on.")],
    *,
    layout: Annotated[Format, typer.Option("--format", help="hf: published columns; parquet: verl's.")] = Format.JSONL,
    axis: Annotated[list[Axis] | None, typer.Option(help="Repeatable. Default: the five of the paper.")] = None,
    values: Annotated[str | None, typer.Option(metavar="2..12|2,4", help="Default: all that the axis has.")] = None,
    size: SizeOption = None,
    train: Annotated[int, typer.Option(min=0, help="Rows a value; multiples of 23 give flat answers.")] = 920,
    test: Annotated[int, typer.Option(min=0, help="Rows a value.")] = 230,
    style: StyleOption = Style.EXACT,
    attack: Annotated[list[AttackKind] | None, typer.Option(help="Repeatable: used in turn. Default: note.")] = None,
    needle: Annotated[bool, typer.Option("--needle", help="Mix retrieval segments into attacked passages.")] = False,
    abstract: Annotated[bool, typer.Option("--abstract", help="Use category totals.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one a core, where it pays.")] = None,
    as_json: AsJson = False,
) -> None:
    """Build a set of problems, the same bytes on any machine and with any number of processes."""
    from mas_orchestra.masbench.request import BuildRequest

    request = BuildRequest(
        format=layout,
        axes=tuple(axis or MAIN_AXES),
        values=None if values is None else read_values(values),
        parameters=None if size is None else read_parameters(size),
        train=train,
        test=test,
        style=style,
        attacks=tuple(attack or [AttackKind.NOTE]),
        needle=needle,
        abstract=abstract,
    )
    report = _build(out, request, workers)
    if as_json:
        print_json({"out": str(out), "rows": report.rows, **report.model_dump(mode="json")})
    else:
        print_text("\n".join(f"{file.rows:>9,}  {out / file.path}" for file in report.files))


def _build(out: Path, request: "BuildRequest", workers: int | None) -> "BuildReport":
    from mas_orchestra.masbench.build import build as build_set

    try:
        with _progress() as on_progress:
            return build_set(out, request, workers=workers or _enough_workers(request), on_progress=on_progress)
    except KeyboardInterrupt:
        complain("The same command goes on from the files that are finished.")
        raise


def _enough_workers(request: "BuildRequest") -> int:
    """One a core, but starting a process costs as much time as making a thousand rows."""
    rows = sum(shard.total for shard in request.shards())
    return min(os.cpu_count() or 1, 1 + rows // 1_000)


@contextmanager
def _progress() -> Iterator["Progress | None"]:
    """A bar on a terminal's stderr, nothing anywhere else."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@bench_app.command(epilog="\b\nExamples:\n  mas bench gallery\n  mas bench gallery --out docs/gallery.md\n")
def gallery(
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the page there instead of on stdout.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems, one JSON object a line.")] = False,
) -> None:
    """Write the gallery: one small problem of every axis and attack, with graph and answers."""
    from mas_orchestra.masbench.gallery import exhibits
    from mas_orchestra.masbench.gallery import gallery as page

    if not as_json:
        write_page(page(), out)
        return
    if out is not None:
        raise UsageError("--json goes to stdout: leave out --out, or redirect")
    for title, problem in exhibits():
        print_json({"title": title, "problem": problem.model_dump(mode="json")})


bench_app.registered_commands += rows_app.registered_commands + text_app.registered_commands
