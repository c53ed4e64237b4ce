"""How whatever goes wrong becomes one message on stderr and an exit code.

The codes: 0 done, 1 the work failed, 2 wrong usage, 130 interrupted.
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum

from mas_orchestra.cli.printable import printable

__all__ = ["DEBUG_VARIABLE", "ExitCode", "abandon_stdout", "boundary", "complain"]

DEBUG_VARIABLE = "MAS_DEBUG"
"""Environment variable that adds the traceback to a clean message; ``mas --debug`` sets it."""


class ExitCode(IntEnum):
    """What the shell is told."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130


def complain(message: str) -> None:
    """Print one message for people on stderr, hostile text in it made harmless."""
    with suppress(OSError):  # a terminal that has gone: nobody is left to be told
        sys.stderr.write(printable(message) + "\n")
        sys.stderr.flush()


@contextmanager
def boundary() -> Iterator[None]:
    """Ends the process with a message and an exit code on any exception that reaches it."""
    try:
        yield
    except KeyboardInterrupt:
        complain("Interrupted.")
        sys.exit(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Who reads our output has gone (`mas … | head`): nobody is left to be told.
        abandon_stdout()
        sys.exit(ExitCode.FAILED)
    except Exception as error:  # noqa: BLE001  (the one boundary of the command line: nothing may end in a bare traceback)
        sys.exit(_report(error))


def abandon_stdout() -> None:
    """Send what is still buffered for stdout nowhere, so that the interpreter's last flush cannot fail too."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


def _report(error: Exception) -> ExitCode:
    from mas_orchestra.errors import MasError, UsageError

    error = _only_cause(error)
    if not isinstance(error, MasError):
        traceback.print_exception(error)
        complain(
            f"\nInternal error: {type(error).__name__}: {error}\n"
            "This is a fault of MAS-Orchestra, not yours. Please report it with the lines above, "
            "the command you typed and the output of `mas --version`."
        )
        return ExitCode.FAILED
    if os.environ.get(DEBUG_VARIABLE, "0") not in {"", "0"}:
        traceback.print_exception(error)
    complain(f"Error: {error}")
    return ExitCode.USAGE if isinstance(error, UsageError) else ExitCode.FAILED


def _only_cause(error: Exception) -> Exception:
    """The one exception inside task groups' exception groups, or `error` itself where there are several."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
