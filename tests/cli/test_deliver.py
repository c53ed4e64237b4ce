"""Whatever came of a run is kept and printed: nothing that was paid for is lost."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cli.recorded import fault, outcome, report
from mas_orchestra.cli.boundary import ExitCode
from mas_orchestra.cli.deliver import check_writable, deliver
from mas_orchestra.errors import FileFormatError, UsageError
from mas_orchestra.plan.report import FaultCode
from mas_orchestra.run import read_trace
from mas_orchestra.run.outcome import Failure
from mas_orchestra.types import OutcomeStatus, Usage

UNWRITABLE = Path("/proc/self/mas-trace.json")
"""A folder in which not even root can make a file."""
FULL = Path("/dev/full")


def delivered(result, capsys, **changes):
    options = {"as_json": False, "trace": None, "quiet": False} | changes
    code = deliver(result, **options)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_answer_is_alone_on_stdout(capsys):
    code, out, err = delivered(outcome(), capsys)

    assert (code, out) == (ExitCode.DONE, "42\n")
    assert err == ("answered: 4.0 s (critical path 3.9 s), 4 calls, 440 tokens (400 input, 40 output), cost $0.0040\n")


def test_quiet_says_nothing_else(capsys):
    assert delivered(outcome(), capsys, quiet=True) == (ExitCode.DONE, "42\n", "")


def test_estimates_and_unknown_costs_are_called_so(capsys):
    _, _, err = delivered(outcome(usage=Usage(input_tokens=9, estimated=True), cost_usd=None), capsys)

    assert "at least 9 tokens" in err
    assert "cost unknown" in err


def test_json_is_one_object_and_safe_on_a_terminal(capsys):
    code, out, _ = delivered(outcome(answer="\x9b2J 计算 \u202e"), capsys, as_json=True)

    assert code == ExitCode.DONE
    assert json.loads(out)["answer"] == "\x9b2J 计算 \u202e"
    assert "\x9b" not in out
    assert "计算" in out


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (OutcomeStatus.STEP_FAILED, ExitCode.FAILED, "--on-step-error partial"),
        (OutcomeStatus.BUDGET_EXCEEDED, ExitCode.FAILED, "--max-calls"),
        (OutcomeStatus.TIMED_OUT, ExitCode.FAILED, "--timeout"),
        (OutcomeStatus.ENDPOINT_ERROR, ExitCode.FAILED, "mas models check"),
    ],
)
@pytest.mark.parametrize("quiet", [True, False])
def test_no_answer_is_a_failure_that_says_why_and_what_to_do(status, code, advice, quiet, capsys):
    result = outcome(status, failure=Failure(code="why", message="because of this"))
    ended, out, err = delivered(result, capsys, quiet=quiet)

    assert (ended, out) == (code, "")
    assert f"Error: no answer ({status}). why: because of this" in err
    assert advice in err


def test_an_invalid_plan_lists_its_faults_with_places(capsys):
    faults = [fault(f"fault {number}") for number in range(7)]
    result = outcome(OutcomeStatus.INVALID_PLAN, report=report(None, *faults), steps=())
    code, _, err = delivered(result, capsys)

    assert code == ExitCode.FAILED
    assert "  line 3, column 7: unclosed_tag: fault 0\n" in err
    assert "and 2 more" in err
    assert "fault 6" not in err


def test_a_plan_beyond_the_call_limit_names_the_option(capsys):
    too_large = replace(fault("up to 33 LLM calls, at most 19 are accepted"), code=FaultCode.PLAN_TOO_LARGE)
    _, _, err = delivered(outcome(OutcomeStatus.INVALID_PLAN, report=report(None, too_large), steps=()), capsys)

    assert "Raise --max-calls" in err


def test_a_cancelled_run_is_interrupted(capsys):
    code, out, err = delivered(outcome(OutcomeStatus.CANCELLED), capsys)

    assert (code, out) == (ExitCode.INTERRUPTED, "")
    assert err.startswith("cancelled: 4.0 s")


def test_the_trace_is_kept_and_named(capsys, tmp_path):
    trace = tmp_path / "run.json"
    _, _, err = delivered(outcome(), capsys, trace=trace)

    assert read_trace(trace) == outcome()
    assert f"trace: {trace}" in err


def test_a_trace_through_a_link_changes_the_file_behind_it(capsys, tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "latest.json"
    link.symlink_to(tmp_path / "real" / "run.json")
    delivered(outcome(), capsys, trace=link)

    assert link.is_symlink()
    assert read_trace(tmp_path / "real" / "run.json") == outcome()


def test_a_trace_that_cannot_be_written_at_the_end_is_left_elsewhere_and_the_answer_printed(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = delivered(outcome(), capsys, trace=UNWRITABLE)

    assert (code, out) == (ExitCode.FAILED, "42\n")
    assert f"Error: cannot write the trace {UNWRITABLE.resolve()}" in err
    spare = next(tmp_path.rglob("mas-trace.json"))
    assert f"The trace is in {spare} instead." in err
    assert read_trace(spare) == outcome()


def test_without_any_place_the_trace_goes_to_stderr(capsys, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/proc/self")
    code, out, err = delivered(outcome(), capsys, trace=UNWRITABLE)

    assert (code, out) == (ExitCode.FAILED, "42\n")
    held = err.split("It holds:\n")[1].splitlines()[0]
    assert json.loads(held)["answer"] == "42"


def test_an_unwritable_trace_is_found_before_anything_is_spent(tmp_path):
    for path in (UNWRITABLE, tmp_path / "missing" / "run.json"):
        with pytest.raises(FileFormatError, match=r"cannot write to .*Nothing was asked or spent"):
            check_writable(path)
    check_writable(tmp_path / "run.json")
    assert list(tmp_path.iterdir()) == [], "the check leaves nothing behind"


@pytest.mark.parametrize("name", [".", "/dev/null"])
def test_a_trace_never_replaces_a_folder_or_a_device(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is no file"):
        check_writable(Path(name))


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_under_stdout_is_said_and_does_not_crash_the_end():
    script = (
        "from mas_orchestra.cli.boundary import boundary\n"
        "from mas_orchestra.cli.deliver import print_text\n"
        "with boundary(): print_text('42')\n"
    )
    with FULL.open("w") as full:
        run = subprocess.run(
            [sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert run.returncode == ExitCode.FAILED
    assert run.stderr == "Error: cannot write to stdout: No space left on device\n"
