"""A run on a terminal is redrawn, anywhere else it is one line an event."""

import asyncio
import io

import pytest
from rich.console import Console

from cli.recorded import HOUSING, finished, housing, outcome, report, step, wide
from mas_orchestra.cli.live import REFRESH_S, can_draw, lines, screen, silence
from mas_orchestra.plan.schema import Plan
from mas_orchestra.run.events import PlanParsed, RunFinished, StepFinished, StepStarted, StepWarned
from mas_orchestra.run.outcome import Failure, Warned
from mas_orchestra.types import StepStatus, Usage


class Stream(io.StringIO):
    def __init__(self, *, terminal=True, encoding="utf-8"):
        super().__init__()
        self.terminal = terminal
        self.named = encoding

    @property
    def encoding(self):
        return self.named

    def isatty(self):
        return self.terminal


async def written(events):
    messages = []
    async with lines(messages.append) as display:
        for event in events:
            display.listen(event)
    return messages


def terminal(width=100, height=30, **options):
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        width=width,
        height=height,
        legacy_windows=False,
        _environ={},
        **options,
    )


@pytest.mark.parametrize(
    ("stream", "term", "expected"),
    [
        (Stream(), "xterm-256color", True),
        (Stream(encoding="UTF-8"), "xterm", True),
        (Stream(terminal=False), "xterm", False),
        (Stream(), "dumb", False),
        (Stream(encoding="ascii"), "xterm", False),
    ],
)
def test_only_a_capable_terminal_is_drawn_on(stream, term, expected, monkeypatch):
    monkeypatch.setenv("TERM", term)

    assert can_draw(stream) is expected


async def test_lines_tell_what_matters_in_order():
    assert await written(housing()) == [
        "text 1 of the orchestrator: no valid plan: unclosed_tag: the block is not closed",
        (
            "text 2 of the orchestrator: 3 steps, 2 levels, at most 17 calls: "
            "facts (CoTAgent), rates (SCAgent), compare (DebateAgent)"
        ),
        "facts (CoTAgent): started",
        "rates (SCAgent): started",
        "facts (CoTAgent): answered in 1.5 s (1 call, 110 tokens, cost $0.0010)",
        "rates: warning: empty_reply: sample 1 was empty",
        "rates (SCAgent): failed after 1.5 s (1 call, 110 tokens, cost $0.0010): empty_reply: no sample had an answer",
        "compare (DebateAgent): started",
    ]


async def test_lines_never_pass_an_estimate_off_as_exact_or_an_unknown_price_as_nothing():
    record = step("a", "CoTAgent", usage=Usage(input_tokens=7, estimated=True), cost_usd=None)

    assert await written([StepFinished(at_s=1, record=record)]) == [
        "a (CoTAgent): answered in 1.5 s (1 call, at least 7 tokens, cost unknown)"
    ]


async def test_a_step_that_never_started_has_no_time():
    record = step(
        "a",
        "CoTAgent",
        StepStatus.SKIPPED,
        started_s=None,
        finished_s=None,
        wall_s=0.0,
        calls=(),
        failure=Failure(code="input_missing", message="no output from 'b'"),
    )

    assert await written([StepFinished(at_s=1, record=record)]) == [
        "a (CoTAgent): skipped (never started): input_missing: no output from 'b'"
    ]


async def test_a_given_plan_a_direct_answer_and_a_wide_plan():
    events = [PlanParsed(at_s=0, attempt=0, report=report(plan)) for plan in (HOUSING, Plan(answer="42"), wide(64))]
    told = await written(events)

    assert told[0].startswith("plan: 3 steps")
    assert told[1] == "plan: a direct answer"
    assert told[2].endswith("step 8 (CoTAgent), ...")


async def test_hostile_text_stays_one_harmless_line():
    evil = "\x1b[2J\nroot# \u202e" + "x" * 10_000
    told = await written(
        [
            StepStarted(at_s=0, step=evil, agent=evil, input=evil),
            StepWarned(at_s=0, step=evil, warning=Warned(code="odd", message=evil)),
            StepFinished(at_s=1, record=step(evil, evil, failure=Failure(code="refused", message=evil))),
        ]
    )

    assert len(told) == 3
    assert all(line.isprintable() and len(line) < 1_200 for line in told)


async def test_silence_says_only_messages():
    said = []
    async with silence(said.append) as display:
        for event in housing():
            display.listen(event)
        display.say("Interrupted")

    assert said == ["Interrupted"]


async def test_a_screen_is_redrawn_and_keeps_its_last_state():
    console = terminal()
    async with screen(console, clock=lambda: 3.0) as display:
        for event in [*housing(), RunFinished(at_s=4.0, outcome=outcome())]:
            display.listen(event)
        await asyncio.sleep(REFRESH_S * 1.5)
        during = console.file.getvalue()
        display.say("Interrupted: stopping\x1b[2J")
    after = console.file.getvalue()

    assert "round 2: Statistician" in during
    assert "\x1b[?25l" in during, "the cursor is hidden while drawing"
    assert after.rindex("\x1b[?25h") > after.rindex("\x1b[?25l"), "and shown again"
    assert "Interrupted: stopping\\x1b[2J" in after
    assert after.rstrip().endswith("\x1b[0m") or "compare" in after.splitlines()[-1]


async def test_a_screen_without_colour_colours_nothing(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=io.StringIO(), force_terminal=True, width=100, height=30, legacy_windows=False)
    async with screen(console) as display:
        for event in housing():
            display.listen(event)

    assert not any(f"\x1b[{code}m" in console.file.getvalue() for code in (31, 32, 33, 36))


async def test_a_low_terminal_never_scrolls_while_it_draws():
    console = terminal(height=10)
    async with screen(console, clock=lambda: 1.0) as display:
        display.listen(PlanParsed(at_s=0, attempt=0, report=report(wide(64))))
        await asyncio.sleep(REFRESH_S * 1.5)
        during = console.file.getvalue()
        display.listen(finished(wide(64)))

    assert "… and 56 more: 56 waiting" in during
    assert "step 64" in console.file.getvalue(), "the last picture is whole"


async def test_a_terminal_that_is_closed_does_not_end_the_run():
    class Closed(io.StringIO):
        is_closed = False

        def write(self, text):
            if self.is_closed:
                raise OSError(5, "Input/output error")
            return super().write(text)

    stream = Closed()
    console = Console(file=stream, force_terminal=True, width=80, height=30, legacy_windows=False)
    reached = False
    async with screen(console) as display:
        await asyncio.sleep(0)
        stream.is_closed = True
        display.listen(housing()[0])
        await asyncio.sleep(REFRESH_S * 1.5)
        reached = True

    assert reached
