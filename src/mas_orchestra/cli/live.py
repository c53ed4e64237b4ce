"""Shows a run while it goes on: drawn on a terminal, as plain lines anywhere else. Always on stderr."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from mas_orchestra.cli.draw import draw
from mas_orchestra.cli.figures import count, money, seconds
from mas_orchestra.cli.printable import one_line, printable
from mas_orchestra.cli.view import RunView
from mas_orchestra.plan.report import PlanReport
from mas_orchestra.run.events import Event, Listener, PlanParsed, RunStarted, StepFinished, StepStarted, StepWarned
from mas_orchestra.run.outcome import StepRecord
from mas_orchestra.types import StepStatus

__all__ = ["Display", "can_draw", "lines", "screen", "silence"]

REFRESH_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """Where a run is shown: `listen` takes its events, `say` shows a message between them."""

    listen: Listener
    say: Callable[[str], None]


def can_draw(stream: TextIO) -> bool:
    """Whether `stream` is a terminal that can be drawn on."""
    is_smart = os.environ.get("TERM", "") not in {"dumb", "unknown"}
    return stream.isatty() and is_smart and (stream.encoding or "").lower().replace("-", "") == "utf8"


@asynccontextmanager
async def screen(console: Console, clock: Callable[[], float] = time.monotonic) -> AsyncIterator[Display]:
    """A display that redraws the run as it goes on; the last state stays on the screen."""
    view = RunView()
    began_s = clock()

    def listen(event: Event) -> None:
        nonlocal began_s
        if isinstance(event, RunStarted):
            began_s = clock() - event.at_s
        view.apply(event)

    def picture(height: int | None) -> Text:
        return draw(view, now_s=clock() - began_s, width=console.width, height=height)

    # Not rich's own refreshing: its thread would read the view while an event changes it.
    live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
    ignore_closed = suppress(OSError)  # a terminal that was closed: the run goes on, its trace and answer are kept

    def say(message: str) -> None:
        with ignore_closed:
            console.print(Text(printable(message), style="yellow"))

    async def refresh() -> None:
        with ignore_closed, live:
            while True:
                live.update(picture(console.height - 1), refresh=True)
                await asyncio.sleep(REFRESH_S)

    task = asyncio.create_task(refresh())
    try:
        yield Display(listen=listen, say=say)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    with ignore_closed:
        console.print(picture(None))


@asynccontextmanager
async def lines(write: Callable[[str], None]) -> AsyncIterator[Display]:
    """A display that writes one line for each event that matters."""
    yield Display(listen=_line_writer(write), say=write)


@asynccontextmanager
async def silence(write: Callable[[str], None]) -> AsyncIterator[Display]:
    """A display that shows nothing but messages."""
    yield Display(listen=lambda _: None, say=write)


def _line_writer(write: Callable[[str], None]) -> Listener:
    def listen(event: Event) -> None:
        match event:
            case PlanParsed():
                write(_plan_line(event.attempt, event.report))
            case StepStarted():
                write(f"{_name(event.step, event.agent)}: started")
            case StepWarned():
                write(f"{one_line(event.step)}: warning: {one_line(f'{event.warning.code}: {event.warning.message}')}")
            case StepFinished():
                write(_step_line(event.record))
            case _:
                pass

    return listen


def _name(step: str, agent: str) -> str:
    return f"{one_line(step, limit=80)} ({one_line(agent, limit=40)})"


def _plan_line(attempt: int, report: PlanReport) -> str:
    which = f"text {attempt} of the orchestrator" if attempt else "plan"
    if report.plan is None:
        faults = "; ".join(f"{fault.code}: {fault.message}" for fault in report.faults[:3])
        return f"{which}: no valid plan: {one_line(faults)}"
    if not report.plan.steps:
        return f"{which}: a direct answer"
    steps = ", ".join(_name(step.id, step.agent) for step in report.plan.steps[:8])
    more = ", ..." if len(report.plan.steps) > 8 else ""
    return (
        f"{which}: {count(len(report.plan.steps), 'step')}, {count(report.length, 'level')}, "
        f"at most {count(report.max_calls, 'call')}: {steps}{more}"
    )


def _step_line(record: StepRecord) -> str:
    name = _name(record.id, record.agent)
    bound = "at least " if record.usage.estimated else ""
    calls = count(sum(call.samples for call in record.calls), "call")
    spent = f"{calls}, {bound}{count(record.usage.total_tokens, 'token')}, cost {money(record.cost_usd)}"
    if record.started_s is None:
        spent = "never started"
    why = f": {one_line(f'{record.failure.code}: {record.failure.message}')}" if record.failure else ""
    after = "in" if record.status is StepStatus.ANSWERED else "after"
    took = f" {after} {seconds(record.wall_s)}" if record.started_s is not None else ""
    return f"{name}: {record.status}{took} ({spent}){why}"
