"""The drawing fits any terminal, shows what matters, and lets no text of a model through raw."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from cli.recorded import HOUSING, call, fault, housing, outcome, report, step, wide
from mas_orchestra.cli.draw import draw, fit
from mas_orchestra.cli.view import RunView
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run.events import CallStarted, PlanParsed, StepFinished, StepStarted
from mas_orchestra.run.outcome import Failure
from mas_orchestra.types import StepStatus, Usage


def view_of(events):
    view = RunView()
    for event in events:
        view.apply(event)
    return view


def drawn(events, *, now_s=3.0, width=100, height=None):
    return draw(view_of(events), now_s=now_s, width=width, height=height).plain.splitlines()


def test_a_run_on_a_wide_terminal():
    assert drawn(housing()) == [
        "   ✗ text 1 is no plan: unclosed_tag: the block is not closed",
        "   ✓ plan: 3 steps, ≤ 17 calls         0.4 s     220 tok  $0.0020",
        " 1 ✓ facts                    CoT      1.5 s     110 tok  $0.0010",
        "   ✗ rates                    SC       1.5 s     110 tok  $0.0010  empty_reply: no sample had an an…",
        " 2 ● compare ← facts, rates   Debate   1.0 s                       round 2: Statistician (+1)",
    ]


def test_a_run_on_a_narrow_terminal():
    assert drawn(housing(), width=40) == [
        "   ✗ text 1 is no plan: unclosed_tag: t…",
        "   ✓ plan: 3 steps,…    0.4 s",
        " 1 ✓ facts              1.5 s",
        "   ✗ rates              1.5 s  empty_re…",
        " 2 ● compare ← facts…   1.0 s  round 2:…",
    ]


def test_before_the_plan_there_is_only_its_writing():
    assert drawn(housing()[:2], now_s=1.25)[0].split() == ["●", "plan", "1.2", "s", "plan"]


def test_a_direct_answer_is_called_one():
    lines = drawn([*housing()[:3], PlanParsed(at_s=0.4, attempt=1, report=report(Plan(answer="42")))])

    assert "a direct answer" in lines[0]


def test_estimated_tokens_and_unknown_costs_are_marked():
    record = step("facts", "CoTAgent", usage=Usage(input_tokens=9, estimated=True), cost_usd=None)
    line = drawn([PlanParsed(at_s=0, attempt=0, report=report(HOUSING)), StepFinished(at_s=1.0, record=record)])[0]

    assert "≥9 tok" in line
    assert "unknown" in line
    assert "$0" not in line


def test_waiting_steps_are_drawn_with_whom_they_read():
    lines = drawn([PlanParsed(at_s=0.4, attempt=0, report=report(HOUSING))])

    assert [line[:2].strip() for line in lines] == ["1", "", "2"]
    assert lines[2].strip().startswith("2 · compare ← facts, rates")


def test_a_low_terminal_keeps_what_runs_and_counts_the_rest():
    events = [
        PlanParsed(at_s=0.0, attempt=0, report=report(wide(64))),
        StepFinished(at_s=2.0, record=step("step 1", "CoTAgent")),
        *(StepStarted(at_s=1.0, step=f"step {number}", agent="CoTAgent", input="") for number in (40, 50)),
        StepFinished(
            at_s=2.0,
            record=step("step 60", "CoTAgent", StepStatus.FAILED, failure=Failure(code="refused", message="no")),
        ),
    ]
    lines = drawn(events, height=5)

    assert lines[-1].strip() == "… and 60 more: 60 waiting"
    assert [line[3:].split("  ")[0] for line in lines[:-1]] == [
        "✓ step 1",
        "● step 40",
        "● step 50",
        "✗ step 60",
    ]


def test_sixty_four_steps_are_all_drawn_at_the_end():
    assert len(drawn([PlanParsed(at_s=0.0, attempt=0, report=report(wide(64)))])) == 64


@pytest.mark.parametrize("width", [20, 40, 71, 72, 80, 200])
@pytest.mark.parametrize(
    "name", ["计算总和的步骤" * 8, "x" * 500, "\x1b[2Jgone", "a\tb", "👩‍🔬", "\u202eevil"], ids=ascii
)
def test_any_name_fits_any_width(name, width):
    plan = wide(2, [name, "end"])
    events = [
        PlanParsed(at_s=0, attempt=0, report=report(plan)),
        StepStarted(at_s=0, step=name, agent=name, input=""),
        CallStarted(at_s=0, step=name, purpose=name),
    ]
    lines = drawn(events, width=width)

    assert len(lines) == 2
    assert all(cell_len(line) <= width for line in lines)
    assert not any("\x1b" in line or "\u202e" in line for line in lines)


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=300), st.integers(1, 200))
def test_no_text_of_a_model_reaches_the_terminal_raw(text, width):
    record = step("a", text, StepStatus.FAILED, failure=Failure(code="refused", message=text), calls=(call("a", text),))
    plan = Plan(steps=(Step(id="a", agent=text), Step(id="b", agent=text)), edges=(Edge("a", "b"),))
    view = view_of(
        [
            PlanParsed(at_s=0, attempt=1, report=report(None, fault(text))),
            PlanParsed(at_s=0, attempt=2, report=report(plan)),
            StepFinished(at_s=1, record=record),
        ]
    )
    console = Console(file=io.StringIO(), force_terminal=False, width=width, legacy_windows=False)
    console.print(draw(view, now_s=2.0, width=width))
    output = console.file.getvalue()

    assert output.isprintable() or all(mark.isprintable() or mark == "\n" or ord(mark) > 0xA0 for mark in output)
    assert output.count("\n") == 3


@given(st.text(max_size=40), st.integers(1, 30))
def test_fit_is_exact(text, width):
    from mas_orchestra.cli.printable import one_line

    assert cell_len(fit(one_line(text), width)) == width


def test_the_view_of_a_trace_draws_like_the_run():
    lines = draw(RunView.of(outcome()), now_s=4.0, width=120).plain.splitlines()

    assert [line[3] for line in lines] == ["✓"] * 4


def test_only_what_waits_is_dim():
    picture = draw(view_of(housing()), now_s=3.0, width=100)
    done = picture.split("\n")[2]

    assert done.plain.startswith(" 1 ✓ facts")
    assert str(done.get_style_at_offset(Console(), 3)) == "green"
    assert str(done.get_style_at_offset(Console(), 5)) == "none"


@given(st.integers(0, 21), st.integers(1, 220), st.integers(5, 60), st.floats(0, 1e6))
def test_every_moment_fits_the_terminal(moment, width, height, now_s):
    lines = drawn(housing()[:moment], width=width, height=height, now_s=now_s)

    assert len(lines) <= height
    assert all(cell_len(line) <= width for line in lines)
