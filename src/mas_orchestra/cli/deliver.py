"""What is left when a run has ended: the trace, the answer, the totals, the exit code.

In this order, so that nothing that was paid for is lost: the trace is safe before anything is printed, and whatever
happens to it, the answer is printed.
"""

import json
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from mas_orchestra.cli.boundary import ExitCode, abandon_stdout, complain
from mas_orchestra.cli.figures import totals
from mas_orchestra.cli.printable import escape_json, printable
from mas_orchestra.cli.verdict import explain
from mas_orchestra.errors import FileFormatError, UsageError
from mas_orchestra.run import Outcome, outcome_json, write_trace
from mas_orchestra.types import OutcomeStatus

__all__ = ["check_writable", "deliver", "print_json", "print_text"]


def check_writable(trace: Path) -> None:
    """Find out before anything is spent whether a trace can be written.

    Raises:
        UsageError: It names something other than a file.
        FileFormatError: The folder is missing or cannot be written to.
    """
    if trace.exists() and not trace.is_file():
        raise UsageError(f"--trace: {trace} is no file; give the name of one")
    try:
        with tempfile.TemporaryFile(dir=trace.resolve().parent):
            pass
    except OSError as error:
        raise FileFormatError(
            f"--trace: cannot write to {trace.parent}: {error.strerror or error}. Nothing was asked or spent."
        ) from None


def deliver(outcome: Outcome, *, as_json: bool, trace: Path | None, quiet: bool) -> ExitCode:
    """Keep the trace, print answer or object on stdout and the rest on stderr.

    Raises:
        BrokenPipeError: Nobody reads stdout any more.
        FileFormatError: stdout cannot be written.
    """
    is_kept = trace is None or _keep(outcome, trace)
    if as_json:
        print_json(outcome_json(outcome))
    elif outcome.answer is not None:
        print_text(outcome.answer)
    if not quiet:
        complain(f"{outcome.status}: {totals(outcome)}")
        if trace is not None and is_kept:
            complain(f"trace: {trace}")
    return _code(outcome) if is_kept else ExitCode.FAILED


def print_json(value: object) -> None:
    """One JSON object on stdout, safe to show on a terminal."""
    _write(escape_json(json.dumps(value, ensure_ascii=False)) + "\n")


def print_text(text: str) -> None:
    """Text on stdout: made harmless on a terminal, byte for byte anywhere else."""
    _write((printable(text) if sys.stdout.isatty() else text) + "\n")


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        abandon_stdout()
        raise FileFormatError(f"cannot write to stdout: {error.strerror or error}") from None


def _code(outcome: Outcome) -> ExitCode:
    if outcome.status is OutcomeStatus.ANSWERED:
        return ExitCode.DONE
    if outcome.status is OutcomeStatus.CANCELLED:
        return ExitCode.INTERRUPTED
    complain(f"Error: {explain(outcome)}")
    return ExitCode.FAILED


def _keep(outcome: Outcome, trace: Path) -> bool:
    """Write the trace, or else leave it in the temporary folder, or else on stderr; whether the first worked."""
    try:
        write_trace(outcome, trace.resolve())
    except FileFormatError as error:
        complain(f"Error: {error}")
    else:
        return True
    with suppress(OSError, FileFormatError):
        spare = Path(tempfile.mkdtemp(prefix="mas-trace-")) / (trace.name or "trace.json")
        write_trace(outcome, spare)
        complain(f"The trace is in {spare} instead.")
        return False
    complain(f"It holds:\n{escape_json(json.dumps(outcome_json(outcome), ensure_ascii=False))}")
    return False
