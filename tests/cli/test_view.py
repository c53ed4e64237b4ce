"""The view is a fold: the same events give the same picture, live or from a trace."""

from itertools import pairwise

import pytest

from cli.recorded import HOUSING, call, finished, housing, outcome, report, step, wide
from mas_orchestra.cli.view import RunView, levels
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run.events import CallFinished, CallStarted, PlanParsed, RunFinished, StepFinished, StepStarted
from mas_orchestra.run.outcome import ORCHESTRATOR
from mas_orchestra.types import StepStatus, Usage


def view_of(events):
    view = RunView()
    for event in events:
        view.apply(event)
    return view


def test_the_fold_knows_the_state_of_each_step():
    view = view_of(housing())

    assert {name: step.status for name, step in view.steps.items()} == {
        "facts": StepStatus.ANSWERED,
        "rates": StepStatus.FAILED,
        "compare": StepStatus.RUNNING,
    }
    assert view.steps["compare"].purposes == ["round 2: Statistician", "round 2: Realist"]
    assert view.steps["compare"].reads == ("facts", "rates")
    assert [item.valid for item in view.attempts.values()] == [False, True]


def test_planning_sums_its_calls_and_ends_with_the_plan():
    planning = view_of(housing()).planning

    assert planning is not None
    assert (planning.calls, planning.usage.total_tokens, planning.status) == (2, 220, StepStatus.ANSWERED)
    assert planning.finished_s == 0.4


@pytest.mark.parametrize("costs", [(0.001, None), (None, 0.001)])
def test_one_unknown_price_makes_the_sum_unknown(costs):
    view = view_of(CallFinished(at_s=1.0, record=call("a", "answer", cost_usd=cost)) for cost in costs)

    assert view.steps["a"].cost_usd is None


def test_one_estimate_makes_the_sum_an_estimate():
    guessed = Usage(input_tokens=3, estimated=True)
    view = view_of(
        CallFinished(at_s=1.0, record=call("a", "answer", usage=usage)) for usage in (Usage(input_tokens=1), guessed)
    )

    assert view.steps["a"].usage == Usage(input_tokens=4, estimated=True)


def test_a_step_without_a_plan_is_shown_all_the_same():
    view = view_of([StepStarted(at_s=0.1, step="agent", agent="CoTAgent", input="")])

    assert view.steps["agent"].status is StepStatus.RUNNING


def test_a_step_that_is_named_like_the_orchestrator_is_a_step():
    plan = Plan(steps=(Step(id=ORCHESTRATOR, agent="CoTAgent"),))
    view = view_of(
        [
            CallStarted(at_s=0.0, step=ORCHESTRATOR, purpose="plan"),
            CallFinished(at_s=0.1, record=call(ORCHESTRATOR, "plan")),
            PlanParsed(at_s=0.1, attempt=1, report=report(plan)),
            StepStarted(at_s=0.1, step=ORCHESTRATOR, agent="CoTAgent", input=""),
            CallStarted(at_s=0.1, step=ORCHESTRATOR, purpose="answer"),
        ]
    )

    assert view.steps[ORCHESTRATOR].purposes == ["answer"]
    assert view.planning is not None
    assert view.planning.calls == 1


def test_the_view_of_an_outcome_is_that_of_its_events():
    done = outcome()
    live = view_of(
        [
            CallStarted(at_s=0.0, step=ORCHESTRATOR, purpose="plan"),
            CallFinished(at_s=1.5, record=done.planning[0]),
            PlanParsed(at_s=1.5, attempt=1, report=report(HOUSING)),
            *(StepFinished(at_s=2.0, record=record) for record in done.steps),
            RunFinished(at_s=4.0, outcome=done),
        ]
    )
    replayed = RunView.of(done)

    assert list(replayed.steps.values()) == list(live.steps.values())
    assert replayed.outcome == live.outcome
    assert replayed.attempts == live.attempts


def test_a_step_that_never_started_has_no_times():
    never = step("facts", "CoTAgent", StepStatus.SKIPPED, started_s=None, finished_s=None, wall_s=0.0, calls=())
    view = RunView.of(outcome(steps=(never,)))

    assert view.steps["facts"].started_s is None


def test_levels_are_longest_ways():
    plan = Plan(
        steps=tuple(Step(id=name, agent="CoTAgent") for name in "abcd"),
        edges=(Edge("a", "b"), Edge("b", "c"), Edge("a", "c"), Edge("c", "d"), Edge("a", "d")),
    )

    assert levels(plan) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_a_chain_of_thousands_has_levels_without_recursion():
    names = [str(number) for number in range(5_000)]
    plan = Plan(
        steps=tuple(Step(id=name, agent="CoTAgent") for name in names),
        edges=tuple(Edge(source, target) for source, target in pairwise(names)),
    )

    assert levels(plan)["4999"] == 5_000


def test_a_wide_plan_has_two_levels():
    assert set(levels(wide(64)).values()) == {1, 2}
    assert view_of([PlanParsed(at_s=0, attempt=0, report=report(wide(64))), finished(wide(64))]).outcome is not None
