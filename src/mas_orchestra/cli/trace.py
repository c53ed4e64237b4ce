"""``mas trace``: look at what a run did, from the file that ``mas solve --trace`` wrote."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mas_orchestra.run import CallRecord, Outcome

__all__ = ["trace_app"]

trace_app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog="\b\nExample:\n  mas trace show run.json\n",
)

EXAMPLES = """\b
Examples:
  mas trace show run.json
  mas trace show run.json --calls
  mas trace show run.json --json
"""


@trace_app.callback()
def trace() -> None:
    """Look at what a run did, from its trace."""


@trace_app.command(epilog=EXAMPLES)
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trace that `mas solve --trace FILE` wrote.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the object of `mas solve --json` instead.")] = False,
    calls: Annotated[bool, typer.Option("--calls", help="Show each call's prompt and reply as well.")] = False,
) -> None:
    """Draw a finished run again: question, plan, steps, answer, totals."""
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.run import outcome_json, read_trace

    outcome = read_trace(file)
    if as_json:
        print_json(outcome_json(outcome))
    else:
        _draw(outcome, with_calls=calls)


def _draw(outcome: "Outcome", *, with_calls: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from mas_orchestra.cli.draw import draw
    from mas_orchestra.cli.figures import totals
    from mas_orchestra.cli.printable import printable
    from mas_orchestra.cli.verdict import explain
    from mas_orchestra.cli.view import RunView

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    width = console.width if console.is_terminal else 200
    console.print(Text(printable(outcome.question), style="bold"))
    console.print(draw(RunView.of(outcome), now_s=outcome.wall_s, width=width))
    if with_calls:
        for record in _calls(outcome):
            console.print(_described(record))
    console.print(Text(printable(outcome.answer if outcome.answer is not None else explain(outcome))))
    console.print(Text(f"{outcome.status}: {totals(outcome)}", style="dim"))


def _calls(outcome: "Outcome") -> Iterator["CallRecord"]:
    """Every call, in the order in which they began."""
    records = (*outcome.planning, *(call for step in outcome.steps for call in step.calls))
    yield from sorted(records, key=lambda record: record.started_s)


def _described(record: "CallRecord") -> str:
    """A call's head line, what was sent and what came back, all of it safe to show."""
    from mas_orchestra.cli.figures import money, seconds, tokens
    from mas_orchestra.cli.printable import one_line, printable

    spent = f"{seconds(record.latency_s)}, {tokens(record.usage)}, cost {money(record.cost_usd)}"
    from_cache = ", from the cache" if record.cached else ""
    head = f"--- {one_line(record.step)}: {one_line(record.purpose)} ({one_line(record.model)}: {spent}{from_cache})"
    parts = [head, *(f"[{message.role}] {message.content}" for message in record.messages)]
    parts += [f"[reply] {choice.content}" for choice in record.choices]
    parts += [f"[{record.failure.code}] {record.failure.message}"] if record.failure else []
    parts += [f"[note] {note}" for note in record.notes]
    return printable("\n".join(parts)) + "\n"
