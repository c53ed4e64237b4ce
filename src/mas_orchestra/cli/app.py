"""The command ``mas``: which commands there are, its version, and where errors end."""

import io
import os
import sys
import warnings
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mas_orchestra.cli.boundary import DEBUG_VARIABLE, boundary, complain
from mas_orchestra.cli.lazy import LazyCommand

__all__ = ["COMMANDS", "MasGroup", "app", "run"]

COMMANDS = (
    ("solve", "Answer a question with a multi-agent system written for it.", "mas_orchestra.cli.solve:solve_app"),
    ("trace", "Look at what a run did, from its trace.", "mas_orchestra.cli.trace:trace_app"),
    ("plan", "Check and draw plans; print their schema and prompt.", "mas_orchestra.cli.plan:plan_app"),
    ("models", "List and check models, and fetch the embedded one.", "mas_orchestra.cli.models:models_app"),
    ("bench", "Build, verify and read MASBENCH problems.", "mas_orchestra.cli.bench:bench_app"),
    ("sim", "Serve and list simulated models, which need no key.", "mas_orchestra.cli.sim:sim_app"),
    ("eval", "Compare systems on tasks; keep, resume and report runs.", "mas_orchestra.cli.eval:eval_app"),
    ("doctor", "Check what this machine can run.", "mas_orchestra.cli.doctor:doctor"),
)
"""Name, line in the list, and where the `typer.Typer` is, in the order of ``mas --help``."""

EXAMPLES = """\b
Examples:
  mas solve "How many primes are there below 100?"
  mas solve --file question.txt --model openai:gpt-4o-mini --trace run.json
  mas trace show run.json
  mas models list
  mas doctor

\b
Exit codes: 0 done, 1 the work failed (the message says why), 2 wrong usage, 130 interrupted.
"""


class MasGroup(TyperGroup):
    """All commands, none of them imported yet; errors of each end in `boundary`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401  (passed on to typer)
        super().__init__(**attributes)
        for command in COMMANDS:
            self.add_command(LazyCommand(*command))

    def main(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (typer's own signature differs by version)
        """Parse and run; always ends in `SystemExit`."""
        with boundary():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401  (typer has its own class of contexts since 0.20)
        """Run one command; a Ctrl-C that it does not handle itself is reported before typer swallows it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            with boundary():
                raise


app = typer.Typer(
    cls=MasGroup,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: quick to print, and the same text in a pipe and in the reference
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EXAMPLES,
)


def run() -> None:
    """Run ``mas`` on the process's arguments and end the process."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us, as in `mas … >&-`
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An answer that this terminal cannot encode is shown with escapes instead of being lost.
        sys.stdout.reconfigure(errors="backslashreplace")
    warnings.showwarning = _show_warning
    app()


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning for people, without the line of code that Python adds."""
    complain(f"Warning: {message}")


def _print_version(wanted: bool) -> None:  # noqa: FBT001  (typer calls it with the flag's value)
    if wanted:
        typer.echo(f"mas-orchestra {version('mas-orchestra')} (Python {sys.version.split()[0]})")
        raise typer.Exit


@app.callback()
def mas(
    *,
    version: Annotated[  # noqa: ARG001  (handled by its callback)
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Show a traceback with every error ({DEBUG_VARIABLE}=1 does the same).")
    ] = False,
) -> None:
    """A small orchestrator model writes a whole multi-agent system in one shot; this runs, measures and trains it."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"
