"""``mas trace show`` draws a run again from its file."""

import json

import pytest
from typer.testing import CliRunner

from cli.recorded import call, fault, outcome, report, step
from mas_orchestra.cli.app import app
from mas_orchestra.models.base import Choice
from mas_orchestra.run import outcome_json, write_trace
from mas_orchestra.run.outcome import Failure
from mas_orchestra.types import OutcomeStatus


@pytest.fixture
def show(tmp_path):
    def run(result, *words):
        file = tmp_path / "run.json"
        write_trace(result, file)
        return CliRunner().invoke(app, ["trace", "show", str(file), *words])

    return run


def test_question_plan_steps_answer_and_totals(show):
    result = show(outcome())

    assert result.exit_code == 0, result.output
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[0] == "What is 6 times 7?"
    assert lines[1].startswith("   ✓ plan: 3 steps, ≤ 17 calls")
    assert [line[:12].strip() for line in lines[2:5]] == ["1 ✓ facts", "✓ rates", "2 ✓ compare"]
    assert lines[-2] == "42"
    assert lines[-1].startswith("answered: 4.0 s (critical path 3.9 s), 4 calls")


def test_a_failed_run_says_why(show):
    result = show(
        outcome(
            OutcomeStatus.INVALID_PLAN,
            report=report(None, fault()),
            steps=(),
            failure=Failure(code="unclosed_tag", message="the block is not closed"),
        )
    )

    assert result.exit_code == 0
    assert "text 1 is no plan" in result.stdout
    assert "no answer (invalid_plan)" in result.stdout


def test_calls_are_shown_in_the_order_in_which_they_began(show):
    late, early = call("rates", "sample 2", started_s=2.0), call("rates", "sample 1", started_s=1.0)
    result = show(outcome(planning=(), steps=(step("rates", "SCAgent", calls=(late, early)),)), "--calls")

    heads = [line for line in result.stdout.splitlines() if line.startswith("---")]
    assert [line.split(" (")[0] for line in heads] == ["--- rates: sample 1", "--- rates: sample 2"]
    assert "[user] What is 6 times 7?" in result.stdout
    assert "[reply] 42" in result.stdout


def test_a_call_shows_why_it_failed_and_what_was_adapted(show):
    record = call(
        "facts",
        "answer",
        choices=(),
        notes=("max_tokens lowered from 400 to 212",),
        failure=Failure(code="rate_limited", message="429 beyond the retries"),
        cached=True,
    )
    result = show(outcome(steps=(step("facts", "CoTAgent", calls=(record,)),)), "--calls")

    assert "[rate_limited] 429 beyond the retries" in result.stdout
    assert "[note] max_tokens lowered" in result.stdout
    assert "from the cache" in result.stdout


def test_hostile_text_is_shown_as_text(show):
    evil = "\x1b[2J\x1b]0;gone\x07 \u202eabc"
    record = call(evil, evil, model=evil, choices=(Choice(content=evil),))
    result = show(outcome(question=evil, answer=evil, steps=(step(evil, evil, calls=(record,)),)), "--calls")

    assert result.exit_code == 0, result.output
    assert not any(mark in result.stdout for mark in "\x1b\x07\u202e")


def test_json_is_the_object_of_solve(show):
    assert json.loads(show(outcome(), "--json").stdout) == json.loads(json.dumps(outcome_json(outcome())))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the trace"),
        (b"", "is not a trace: not JSON"),
        (b"\xff\xfe", "is not a trace: not JSON"),
        (b"[]", "is not a trace"),
        (b'{"format": "mas-orchestra-trace", "version": 99}', "version 99; this release reads version 1"),
        (b'{"format": "mas-orchestra-trace", "version": 1, "outcome": {}}', "is a broken trace: outcome"),
    ],
)
def test_a_file_that_is_no_trace_is_one_clean_message(content, message, tmp_path):
    file = tmp_path / "run.json"
    if content is not None:
        file.write_bytes(content)
    result = CliRunner().invoke(app, ["trace", "show", str(file)])

    assert result.exit_code == 1
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
