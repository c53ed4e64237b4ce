"""A trace gives back the outcome that was written, whatever is in it, and the printed object is always JSON."""

import json
import math

from hypothesis import HealthCheck, given, settings

from mas_orchestra.run import outcome_json, read_trace, write_trace
from mas_orchestra.run.trace import TRACE_VERSION
from strategies import outcomes

# An outcome is made of a hundred drawn values: fewer of them say as much.
some = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def through_a_file(outcome, folder):
    path = folder / "run.json"
    write_trace(outcome, path)
    return read_trace(path), path


@given(outcome=outcomes())
@some
def test_what_is_read_is_what_was_written_types_and_bytes_included(tmp_path_factory, outcome):
    """Equality alone would let a text stand for a state, and an integer for a float."""
    found, path = through_a_file(outcome, tmp_path_factory.mktemp("trace"))
    assert found == outcome
    assert repr(found) == repr(outcome)
    first = path.read_bytes()
    write_trace(found, path)
    assert path.read_bytes() == first


@given(outcome=outcomes())
@some
def test_a_trace_is_strict_json_that_any_program_reads(tmp_path_factory, outcome):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    _, path = through_a_file(outcome, tmp_path_factory.mktemp("trace"))
    head = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert (head["format"], head["version"]) == ("mas-orchestra-trace", TRACE_VERSION)
    assert head["outcome"]["question"] == outcome.question


@given(outcomes())
@some
def test_the_printed_object_is_json_and_says_what_the_outcome_says(outcome):
    data = json.loads(json.dumps(outcome_json(outcome), allow_nan=False))
    assert data["status"] == outcome.status
    assert data["answer"] == outcome.answer
    assert data["cost_usd"] == outcome.cost_usd
    assert data["usage"]["calls"] == outcome.calls
    assert [step["id"] for step in data["steps"]] == [step.id for step in outcome.steps]
    assert (data["failure"] is None) == (outcome.failure is None)
    assert (data["plan"] is None) == (outcome.report is None)
    assert len(data["warnings"]) == len(outcome.warnings) + len(outcome.report.warnings if outcome.report else ())


@given(outcomes())
@some
def test_models_share_all_calls_between_them(outcome):
    calls = [*outcome.planning, *(call for step in outcome.steps for call in step.calls)]
    models = outcome_json(outcome)["models"]
    assert {each["model"] for each in models} == {call.model for call in calls}
    assert len(models) == len({call.model for call in calls})
    assert sum(each["usage"]["calls"] for each in models) == sum(call.calls for call in calls)
    for name, field in [("input_tokens", "input_tokens"), ("cached_tokens", "cache_read_tokens")]:
        assert sum(each["usage"][name] for each in models) == sum(getattr(call.usage, field) for call in calls)
    known = [call.cost_usd for call in calls]
    if None not in known:
        assert math.isclose(sum(each["cost_usd"] for each in models), sum(known), abs_tol=1e-9)


@given(outcomes())
@some
def test_a_models_price_is_unknown_as_soon_as_one_of_its_calls_is(outcome):
    calls = [*outcome.planning, *(call for step in outcome.steps for call in step.calls)]
    for each in outcome_json(outcome)["models"]:
        unknown = any(call.cost_usd is None for call in calls if call.model == each["model"])
        assert (each["cost_usd"] is None) == unknown
