import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.errors import FileFormatError, ServerError
from mas_orchestra.run import FixedPlan, OnStepError, outcome_json, read_trace, solve, write_trace
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual


def outcome_of(model=None, question="Why?"):
    runtime = runtime_of(model or FakeModel(), on_step_error=OnStepError.PARTIAL)
    return run_virtual(solve(question, FixedPlan(plan=echo_plan("a>b")), runtime))


def test_a_trace_is_the_outcome(tmp_path):
    outcome = outcome_of()
    write_trace(outcome, tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json") == outcome


def test_failures_are_in_the_trace(tmp_path):
    outcome = outcome_of(FakeModel(reply=lambda prompt: ServerError("boom") if prompt == "a" else prompt))
    write_trace(outcome, tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").steps[0].failure.code == "server_error"


@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("trace") / "run.json"
    outcome = outcome_of(FakeModel(reply=lambda _: "x" + text), question="?" + text)
    write_trace(outcome, path)
    assert read_trace(path) == outcome


def test_a_lone_surrogate_does_not_lose_the_trace(tmp_path):
    outcome = outcome_of(FakeModel(reply=lambda _: "broken \ud800 text"))
    write_trace(outcome, tmp_path / "run.json")
    assert read_trace(tmp_path / "run.json").answer.startswith("broken ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ("[]", "is not a trace"),
        ('{"format": "other"}', "is not a trace"),
        ('{"format": "mas-orchestra-trace", "version": 99}', "version 99; this release reads version 1"),
        ('{"format": "mas-orchestra-trace", "version": 1, "outcome": {}}', "broken trace: outcome.status"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, content, message):
    path = tmp_path / "run.json"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=message):
        read_trace(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileFormatError, match="No such file"):
        read_trace(tmp_path / "none.json")


def test_a_trace_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "run.json"
    path.write_text("before")
    (tmp_path / "gone").mkdir()
    with pytest.raises(FileFormatError, match="cannot write the trace"):
        write_trace(outcome_of(), tmp_path / "missing" / "run.json")
    assert path.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gone", "run.json"]


def test_the_json_object_has_the_promised_keys():
    data = json.loads(json.dumps(outcome_json(outcome_of())))
    assert set(data) >= {
        *("status", "answer", "plan", "steps", "usage", "cost_usd", "wall_s", "critical_path_s", "faults", "warnings")
    }
    assert set(data["steps"][0]) >= {"id", "agent", "status", "input", "output", "calls", "usage", "wall_s"}
    assert set(data["usage"]) >= {
        *("calls", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "estimated")
    }
    assert data["status"] == "answered"
    assert data["usage"]["calls"] == 2
    assert data["plan"]["valid"] is True
    assert data["plan"]["edges"] == [["a", "b"]]


def test_an_unknown_cost_is_null_never_zero():
    assert outcome_json(outcome_of(FakeModel(price=None)))["cost_usd"] is None
