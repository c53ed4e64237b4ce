"""Whole runs on simulated models: every sub-agent, hand-over between steps, an untrained orchestrator."""

import pytest

from mas_orchestra.agents.registry import Registry
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.score import score_answers
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import Runtime
from mas_orchestra.run.system import FixedPlan, Orchestrated, StandaloneAgent
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus
from support.simulated import flawed, problem

REGISTRY = Registry.installed()


async def solve(system, row, **flaws):
    task = Task(id=row.id, question=row.question, answers=tuple(map(str, row.answers)))
    return await system.solve(task, Runtime(model=flawed(**flaws), registry=REGISTRY))


def is_right(outcome, row):
    return score_answers(outcome.answer or "", row.answers).strict.all_correct


def fan(size):
    """A worker for each problem, and a step that puts their answers together."""
    workers = tuple(Step(id=f"w{k}", agent="CoTAgent", input=f"Solve Problem {k}.") for k in range(1, size + 1))
    names = ", ".join(f"${{{worker.id}}}" for worker in workers)
    sink = Step(id="all", agent="CoTAgent", input=f"Put these answers together: {names}")
    return Plan(steps=(*workers, sink), edges=tuple(Edge(worker.id, "all") for worker in workers))


def chain(size):
    """Each step solves one problem, given all that were solved before; the last gives all answers."""
    steps, edges = [], []
    for k in range(1, size + 2):
        earlier = [f"p{j}" for j in range(1, k)]
        given = "Given: " + ", ".join(f"${{{name}}}" for name in earlier) + ". " if earlier else ""
        task = f"Solve Problem {k}." if k <= size else "Answer the whole question."
        steps.append(Step(id=f"p{k}", agent="CoTAgent", input=given + task))
        edges += [Edge(name, f"p{k}") for name in earlier]
    return Plan(steps=tuple(steps), edges=tuple(edges))


@pytest.mark.parametrize("axis", [Axis.DEPTH, Axis.BREADTH, Axis.PARALLEL, Axis.HORIZON, Axis.ROBUSTNESS])
@pytest.mark.parametrize(
    ("agent", "arguments"),
    [("CoTAgent", {}), ("SCAgent", {}), ("DebateAgent", {"roles": ["Solver", "Sceptic"]}), ("ReflexionAgent", {})],
)
async def test_every_sub_agent_is_right_where_the_model_makes_no_mistake(agent, arguments, axis):
    row = problem(axis, 4)
    outcome = await solve(StandaloneAgent(agent=agent, arguments=arguments), row)

    assert outcome.status is OutcomeStatus.ANSWERED
    assert is_right(outcome, row)


@pytest.mark.parametrize("plan", [fan(4), chain(4)], ids=["fan", "chain"])
@pytest.mark.parametrize("axis", [Axis.PARALLEL, Axis.HORIZON])
async def test_what_steps_hand_over_arrives(axis, plan):
    row = problem(axis, 4)
    outcome = await solve(FixedPlan(plan=plan), row)

    assert is_right(outcome, row)


async def test_a_whole_that_does_not_fit_into_one_reply_is_solved_in_parts():
    row = problem(Axis.PARALLEL, 4)
    whole = await solve(StandaloneAgent(agent="CoTAgent"), row, operation_budget=12, unwritten=100, lookup=0.01)
    parts = await solve(FixedPlan(plan=fan(4)), row, operation_budget=12, unwritten=100, lookup=0.0)

    assert not is_right(whole, row)
    assert is_right(parts, row)


async def test_the_sink_only_copies_what_it_was_handed():
    row = problem(Axis.HORIZON, 4)
    outcome = await solve(FixedPlan(plan=chain(4)), row)
    sink = next(step for step in outcome.steps if step.id == "p5")

    assert " = " not in sink.calls[0].choices[0].content


async def test_voting_repairs_errors_that_differ_but_not_systematic_ones():
    rows = [problem(Axis.DEPTH, 4, index) for index in range(40)]

    async def right(agent, systematic):
        flaws = {"lookup": 0.1, "systematic": systematic}
        outcomes = [await solve(StandaloneAgent(agent=agent), row, **flaws) for row in rows]
        return sum(is_right(outcome, row) for outcome, row in zip(outcomes, rows, strict=True))

    assert await right("SCAgent", 0.0) > await right("CoTAgent", 0.0) + 5
    assert await right("SCAgent", 1.0) == await right("CoTAgent", 1.0)


async def test_replies_that_miss_the_form_are_asked_for_again():
    row = problem(Axis.DEPTH, 2)
    system = StandaloneAgent(agent="CoTAgent")
    outcomes = [await solve(system, row, seed=seed, format_error=0.5) for seed in range(20)]

    assert all(is_right(outcome, row) for outcome in outcomes)
    assert sum(outcome.calls for outcome in outcomes) > 20


@pytest.mark.parametrize("seed", range(6))
async def test_an_untrained_orchestrator_writes_plans_that_run(seed):
    row = problem(Axis.HORIZON, 4)
    outcome = await solve(Orchestrated(), row, seed=seed)

    assert outcome.status is OutcomeStatus.ANSWERED
    assert is_right(outcome, row)


async def test_a_question_of_another_kind_leaves_the_attempt_unscored():
    task = Task(id="other", question="What is 2 + 2?", answers=("4",))
    outcome = await StandaloneAgent(agent="CoTAgent").solve(task, Runtime(model=flawed(), registry=REGISTRY))

    assert outcome.status is OutcomeStatus.ENDPOINT_ERROR
    assert outcome.answer is None
