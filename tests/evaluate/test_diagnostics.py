"""Collapse diagnostics: what counts as delegation, as self-consistency in disguise, as invalid."""

import math

import pytest

from mas_orchestra.evaluate.diagnostics import diagnose, is_degenerate, is_whole_task_delegation
from mas_orchestra.evaluate.entrants import entrants
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.types import OutcomeStatus
from support.results import DELEGATION, DIAMOND, VOTE, attempt, info, run, study, task

QUESTION = "What is 6 times 7?"


def of(*attempts):
    names = dict.fromkeys(one.task_id for one in attempts)
    (entrant,) = entrants([run([info("mas")], [task(name, question=QUESTION) for name in names], attempts)])
    return diagnose(entrant)


def tried(*, count=3, agent="CoTAgent", inputs=None, arguments=None, join="${0} ${1} ${2}", edges=None):
    """Several first steps and one that joins them."""
    inputs, arguments = inputs or ["Solve."] * count, arguments or [{}] * count
    first = [
        Step(id=str(n), agent=agent, input=text, arguments=more)
        for n, (text, more) in enumerate(zip(inputs, arguments, strict=True))
    ]
    joined = [Edge(str(n), "join") for n in range(count)] if edges is None else edges
    return Plan(steps=(*first, Step(id="join", agent="CoTAgent", input=join)), edges=tuple(joined))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", True), ("  ", True), (QUESTION, True), (f"\n{QUESTION.upper()} ", True), ("What is 6 + 7?", False)],
)
def test_delegation_is_one_step_with_the_question(text, expected) -> None:
    assert is_whole_task_delegation(Plan(steps=(Step(id="a", agent="SCAgent", input=text),)), QUESTION) is expected


def test_several_steps_or_none_are_no_delegation() -> None:
    assert not is_whole_task_delegation(Plan(answer="42"), QUESTION)
    assert not is_whole_task_delegation(tried(), QUESTION)


@pytest.mark.parametrize(
    "plan",
    [
        tried(),
        VOTE,
        tried(inputs=["", QUESTION, f" {QUESTION}\n"]),
        tried(inputs=["Solve.", "solve.", " Solve. "]),
        tried(
            agent="DebateAgent",
            arguments=[{"roles": ["a", "b"], "model": "x"}, {"model": "x", "roles": ["a", "b"]}],
            count=2,
        ),
    ],
)
def test_the_same_prompt_several_times_is_degenerate(plan) -> None:
    assert is_degenerate(plan, QUESTION)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(answer="42"),
        DELEGATION,
        DIAMOND,
        tried(inputs=["Solve.", "Solve.", "Check the units."]),
        tried(arguments=[{}, {}, {"model": "strong"}]),
        tried(count=2, agent="DebateAgent", arguments=[{"roles": ["a", "b"]}, {"roles": ["a", "c"]}]),
        Plan(steps=(Step(id="a", agent="CoTAgent"), Step(id="b", agent="CoTAgent")), edges=(Edge("a", "b"),)),
        tried(edges=[Edge("0", "join"), Edge("1", "join")]),
        tried(edges=[Edge("0", "join"), Edge("1", "join"), Edge("0", "2"), Edge("2", "join")]),
    ],
)
def test_anything_else_is_not(plan) -> None:
    assert not is_degenerate(plan, QUESTION)


def test_histograms_and_shares() -> None:
    found = of(
        attempt("mas", "a", 0, plan=DIAMOND),
        attempt("mas", "a", 1, plan=DELEGATION),
        attempt("mas", "b", 0, plan=VOTE),
        attempt("mas", "b", 1, plan=Plan(answer="42")),
    )

    assert (found.plans, found.direct_answers, found.whole_task, found.degenerate) == (4, 1, 1, 1)
    assert found.agents == {"CoTAgent": 6, "DebateAgent": 1, "ReflexionAgent": 1, "SCAgent": 1}
    assert next(iter(found.agents)) == "CoTAgent"
    assert found.steps == {0: 1, 1: 1, 4: 2}
    assert found.widths == {0: 1, 1: 1, 2: 1, 3: 1}
    assert found.lengths == {0: 1, 1: 1, 2: 1, 3: 1}


def test_invalid_plans_by_fault() -> None:
    def broken(number, *codes):
        return attempt("mas", "a", number, score=0.0, status=OutcomeStatus.INVALID_PLAN, fault_codes=codes)

    found = of(broken(0, "cycle", "cycle", "unknown_agent"), broken(1, "cycle"), attempt("mas", "a", 2, plan=DIAMOND))

    assert (found.invalid, found.read) == (2, 3)
    assert found.fault_codes == {"cycle": 2, "unknown_agent": 1}


def test_a_broken_endpoint_says_nothing_about_the_planner() -> None:
    found = of(attempt("mas", "a", 0, score=None), attempt("mas", "a", 1, score=None, plan=DIAMOND))

    assert (found.read, found.plans, found.invalid) == (1, 1, 0)


def test_unanimity_is_over_the_attempts_with_a_debate() -> None:
    found = of(
        attempt("mas", "a", 0, plan=DIAMOND, first_round_unanimous=1.0),
        attempt("mas", "a", 1, plan=DIAMOND, first_round_unanimous=0.5),
        attempt("mas", "a", 2, plan=DELEGATION),
    )

    assert (found.unanimity.share, found.unanimity.attempts) == (0.75, 2)


def test_no_attempt_at_all() -> None:
    (entrant,) = entrants([run([info("mas")], [task("a")], [])])
    found = diagnose(entrant)

    assert (found.read, found.plans, found.invalid, found.agents) == (0, 0, 0, {})
    assert math.isnan(found.unanimity.share)


def test_counts_add_up_over_a_whole_study() -> None:
    for found in map(diagnose, entrants([study(per_value=4, k=2)])):
        for counts in (found.steps, found.widths, found.lengths):
            assert sum(counts.values()) == found.plans
        assert sum(found.agents.values()) == sum(size * count for size, count in found.steps.items())
        assert found.plans + found.invalid <= found.read
