"""``mas bench solve|analyze|verify``: what a MASBENCH text says, told from the text alone.

The commands stand in a `typer.Typer` of their own, which ``mas bench`` takes in beside those that build problems.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from mas_orchestra.cli.boundary import ExitCode, complain
from mas_orchestra.cli.deliver import print_json, print_text
from mas_orchestra.cli.printable import one_line
from mas_orchestra.errors import FileFormatError, MasError, UsageError
from mas_orchestra.masbench.analyze import analysis_document, analyze_text
from mas_orchestra.masbench.read_rows import Row, read_row_line, read_rows
from mas_orchestra.masbench.solve_text import Reading, Solution, UndefinedRule, solve_text
from mas_orchestra.masbench.verify import Fault, Verification
from mas_orchestra.masbench.verify import verify as verify_set
from mas_orchestra.types import JsonValue

__all__ = ["text_app"]

text_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

SOLVE_EXAMPLES = """\b
Examples:
  mas bench solve problem.txt
  mas bench solve problem.txt --undefined error --json
  mas bench solve rows.jsonl --json
  cat problem.txt | mas bench solve -
"""

ANALYZE_EXAMPLES = """\b
Examples:
  mas bench analyze problem.txt
  mas bench analyze rows.jsonl --json
"""

VERIFY_EXAMPLES = """\b
Examples:
  mas bench verify data/masbench
  mas bench verify data/masbench --json
  mas bench verify rows.jsonl --limit 0
"""

File = Annotated[
    str,
    typer.Argument(metavar="FILE|-", help="One problem as plain text, or rows (JSON lines, Parquet); - reads stdin."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON: one object, or one a line for a file of rows.")]


@text_app.command(epilog=SOLVE_EXAMPLES)
def solve(
    file: File,
    *,
    undefined: Annotated[
        UndefinedRule,
        typer.Option(help="A quantity that the text never defines is 0 (the published rule) or an error."),
    ] = UndefinedRule.ZERO,
    reading: Annotated[
        Reading, typer.Option(help="A numbered problem may use the statements of all problems, or its own only.")
    ] = Reading.POOLED,
    as_json: AsJson = False,
) -> None:
    """Answer every question of a text from its words alone."""

    def solved(row: Row) -> Shown:
        solution = solve_text(row.question, undefined=undefined, reading=reading)
        for warning in _warnings(solution):
            complain(f"{row.place}: {warning}")
        pairs = zip(solution.asked, solution.answers, strict=True)
        return Shown(
            document={
                "answers": list(solution.answers),
                "asked": [[asked.owner, asked.item] for asked in solution.asked],
            },
            lines=tuple(f"{asked.owner}'s {asked.item} = {answer}" for asked, answer in pairs),
        )

    _show_each(file, solved, as_json=as_json)


@text_app.command(epilog=ANALYZE_EXAMPLES)
def analyze(file: File, *, as_json: AsJson = False) -> None:
    """Measure a text: answers, axes, sizes, what is undefined, ambiguous, circular, claimed or not understood."""

    def analyzed(row: Row) -> Shown:
        document = analysis_document(analyze_text(row.question))
        width = max(map(len, document))
        return Shown(
            document=document,
            lines=tuple(f"{key.ljust(width)}  {line}" for key, value in document.items() for line in _told(value)),
        )

    _show_each(file, analyzed, as_json=as_json)


@text_app.command(epilog=VERIFY_EXAMPLES)
def verify(
    path: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="A built set: JSON lines, Parquet, or folders of them.")
    ],
    *,
    limit: Annotated[int, typer.Option(min=0, help="Faults to print; all are counted.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object with the counts and the faults.")] = False,
) -> None:
    """Prove every row of a set from its text, and that no row, text, template or name stands where it must not."""
    _must_exist(path)
    faults: list[Fault] = []
    with _progress() as on_row:
        result = verify_set(path, on_fault=lambda fault: _keep(fault, faults, limit), on_row=on_row)
    if as_json:
        print_json(asdict(result) | {"listed": [asdict(fault) for fault in faults]})
    else:
        print_text("\n".join([*map(_described, faults), _summary(result, listed=len(faults))]))
    if result.faults:
        raise typer.Exit(ExitCode.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a command shows of one text: an object for programs, lines for people."""

    document: dict[str, JsonValue]
    lines: tuple[str, ...]


def _show_each(file: str, work: Callable[[Row], Shown], *, as_json: bool) -> None:
    """Every text of the file; in a file of rows one that fails is told and the others are still shown."""
    is_single, rows = _texts(file)
    has_failed = False
    for row in rows:
        try:
            _show(row, _worked(row, work), is_single=is_single, as_json=as_json)
        except MasError as error:
            if is_single:
                raise
            has_failed = True
            complain(f"{row.id}: {error}")
            if as_json:
                print_json({"id": row.id, "error": str(error)})
    if has_failed:
        raise typer.Exit(ExitCode.FAILED)


def _worked(row: Row, work: Callable[[Row], Shown]) -> Shown:
    if row.fault:
        raise FileFormatError(row.fault)
    return work(row)


def _show(row: Row, shown: Shown, *, is_single: bool, as_json: bool) -> None:
    if as_json:
        print_json(shown.document if is_single else {"id": row.id, **shown.document})
    else:
        print_text("\n".join(shown.lines if is_single else (f"{row.id}:", *(f"  {line}" for line in shown.lines))))


def _texts(file: str) -> tuple[bool, Iterator[Row]]:
    """Whether the file is one plain text, and its texts.

    Raises:
        UsageError: There is no such file, or it is empty or not UTF-8.
    """
    path = Path(file)
    if file != "-":
        _must_exist(path)
        if path.is_dir() or path.suffix in {".jsonl", ".ndjson", ".parquet"}:
            return False, read_rows(path)
    place = "stdin" if file == "-" else file
    text = _decoded(sys.stdin.buffer.read() if file == "-" else path.read_bytes(), place)
    if not text.lstrip().startswith("{"):
        return True, iter([Row(place=place, id=place, question=text)])
    lines = [line for line in text.splitlines() if line.strip()]
    if any(not line.lstrip().startswith("{") for line in lines):
        lines = [text]  # one object, printed over several lines
    return False, (read_row_line(line.encode(), f"{place}:{number}") for number, line in enumerate(lines, start=1))


def _decoded(data: bytes, place: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{place} is not UTF-8 (byte {error.start}); give a text or rows in UTF-8") from None
    if not text.strip():
        raise UsageError(f"{place} is empty; give one problem as plain text, or rows")
    return text


def _must_exist(path: Path) -> None:
    if not path.exists():
        raise UsageError(f"there is no file or folder {path}")


def _warnings(solution: Solution) -> Iterator[str]:
    if solution.taken_as_zero:
        yield f"never defined, taken as 0: {', '.join(solution.taken_as_zero)} (--undefined error refuses this)"
    yield from solution.assumptions


def _told(value: JsonValue) -> Iterator[str]:
    """Lines for one entry of an analysis; what is empty has none."""
    if value is None or value in ([], {}):
        return
    if not isinstance(value, list) or not isinstance(value[0], dict | list):
        yield ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        return
    for entry in value:
        parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else [entry]
        yield one_line(", ".join(map(str, parts)))


def _keep(fault: Fault, faults: list[Fault], limit: int) -> None:
    if len(faults) < limit:
        faults.append(fault)


def _described(fault: Fault) -> str:
    return f"{fault.id} ({fault.place}): {one_line(fault.reason)}" if fault.id else f"the set: {one_line(fault.reason)}"


def _summary(result: Verification, *, listed: int) -> str:
    groups = "\n".join(f"  {group}: {rows}" for group, rows in result.groups.items())
    foreign = result.rows - result.certified
    beside = f", {foreign} of them without a certificate (only their answers were compared)" if foreign else ""
    hidden = f" ({result.faults - listed} more not listed; see --limit)" if result.faults > listed else ""
    verdict = f"{result.faults} faults in {result.faulty} rows{hidden}" if result.faults else "no fault"
    return f"{groups}\n{result.rows} rows{beside}: {verdict}"


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """Counts rows on a terminal's stderr; does nothing anywhere else."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.completed} rows proven"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("rows", total=None)
        yield lambda rows: progress.update(task, completed=rows)
