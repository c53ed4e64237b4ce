"""Ablation: silencing a step replays what comes after it, and only that."""

import pytest

from mas_orchestra.agents.registry import Registry
from mas_orchestra.errors import ServerError, UnknownNameError
from mas_orchestra.evaluate.ablation import Fidelity, ablate, ablation_fidelity
from mas_orchestra.models import ScriptedModel
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Runtime
from mas_orchestra.run.outcome import Outcome
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus
from support.runs import FakeModel, echo_plan, runtime_of

TASK = Task(id="t", question="the question")


async def solved(plan, runtime):
    outcome = await FixedPlan(plan=plan).solve(TASK, runtime)
    assert outcome.status is OutcomeStatus.ANSWERED
    return outcome


def echo(reply):
    return runtime_of(FakeModel(reply=reply))


async def test_what_comes_after_is_kept_and_the_rest_stands_as_text() -> None:
    plan = echo_plan("a>c", "b>c", "c>d", "a>d")
    outcome = await solved(plan, echo(lambda prompt: f"<{prompt}>"))

    ablated = ablate(outcome, "a")

    assert [(step.id, step.input) for step in ablated.steps] == [("c", "c  <b>"), ("d", "d ${c} ")]
    assert ablated.edges == (Edge("c", "d"),)


async def test_another_output_can_take_the_place() -> None:
    outcome = await solved(echo_plan("a>b"), echo(lambda prompt: f"<{prompt}>"))

    assert ablate(outcome, "a", "something else").steps[0].input == "b something else"


async def test_an_output_is_never_read_as_a_reference() -> None:
    plan = echo_plan("a>b", "x>c", "b>c")
    outcome = await solved(plan, echo(lambda prompt: "${b} and ${nowhere}"))

    runtime = echo(lambda prompt: f"<{prompt}>")
    replay = await FixedPlan(plan=ablate(outcome, "a", "${c}")).solve(TASK, runtime)

    assert replay.status is OutcomeStatus.ANSWERED
    shown = [prompt.replace("\u2060", "") for prompt in runtime.model.prompts]
    assert shown == ["b ${c}", "c ${b} and ${nowhere} <b ${c}>"]


@pytest.mark.parametrize("step", ["d", "nowhere"])
async def test_a_step_that_nobody_reads_cannot_be_silenced(step) -> None:
    outcome = await solved(echo_plan("a>d"), echo(lambda prompt: f"<{prompt}>"))

    with pytest.raises(UnknownNameError, match="Known: a"):
        ablate(outcome, step)


def test_an_outcome_without_a_plan_has_nothing_to_silence() -> None:
    outcome = Outcome(status=OutcomeStatus.INVALID_PLAN, system="s", question="q", task_id="t")

    with pytest.raises(UnknownNameError, match="Known: none"):
        ablate(outcome, "a")


async def test_a_plan_that_uses_its_steps_changes_every_time() -> None:
    runtime = echo(lambda prompt: f"<{prompt}>")
    outcome = await solved(echo_plan("a>c", "b>c"), runtime)

    assert await ablation_fidelity([outcome], runtime) == Fidelity(steps=2, changed=2, changed_anyway=0)


async def test_a_plan_for_show_never_changes() -> None:
    runtime = echo(lambda _: "42")
    outcome = await solved(echo_plan("a>c", "b>c"), runtime)

    assert await ablation_fidelity([outcome], runtime) == Fidelity(steps=2, changed=0, changed_anyway=0)


async def test_sampling_alone_shows_in_the_control() -> None:
    count = iter(range(100))
    runtime = echo(lambda _: f"answer number {next(count)}")
    outcome = await solved(echo_plan("a>b"), runtime)

    assert await ablation_fidelity([outcome], runtime) == Fidelity(steps=1, changed=1, changed_anyway=1)


async def test_only_what_comes_after_costs_calls() -> None:
    runtime = echo(lambda prompt: f"<{prompt}>")
    outcome = await solved(echo_plan("a>b", "b>c", "x>c"), runtime)
    before = len(runtime.model.prompts)

    await ablation_fidelity([outcome], runtime)

    # a: b and c, twice; b: c, twice; x: c, twice.
    assert len(runtime.model.prompts) - before == 8


async def test_a_broken_endpoint_is_no_change() -> None:
    outcome = await solved(echo_plan("a>b"), echo(lambda prompt: f"<{prompt}>"))

    found = await ablation_fidelity([outcome], echo(lambda _: ServerError("down")))

    assert found == Fidelity(steps=0, changed=0, changed_anyway=0, broken=1)


async def test_no_answer_is_a_change() -> None:
    outcome = await solved(echo_plan("a>b"), echo(lambda prompt: f"<{prompt}>"))

    found = await ablation_fidelity([outcome], echo(lambda prompt: prompt if "<a>" in prompt else " "))

    assert (found.steps, found.changed) == (1, 1)


async def test_the_sample_is_bounded_and_decided_by_its_seed() -> None:
    async def chosen(*seed):
        runtime = echo(lambda prompt: prompt)
        outcome = await solved(echo_plan(*(f"s{n}>end" for n in range(8))), echo(lambda prompt: f"<{prompt}>"))
        found = await ablation_fidelity([outcome], runtime, *seed, sample=3)
        assert found.steps == 3
        return sorted(runtime.model.prompts)

    assert await chosen("x", 1) == await chosen("x", 1)
    assert await chosen("x", 1) != await chosen("x", 2)


async def test_runs_without_several_steps_or_an_answer_are_left_out() -> None:
    runtime = echo(lambda prompt: f"<{prompt}>")
    single = await solved(echo_plan(steps="a"), runtime)
    failed = await FixedPlan(plan=echo_plan("a>b")).solve(TASK, echo(lambda _: " "))

    assert await ablation_fidelity([single, failed], runtime) == Fidelity(steps=0, changed=0, changed_anyway=0)


async def test_with_a_scripted_model_and_installed_agents() -> None:
    """The answer depends on the first step: told 6 × 7 it says 42, otherwise it does not know."""

    def reply(messages, params):
        text = messages[-1].content
        if "Write the product" in text:
            return '{"thinking": "the factors", "answer": "6 times 7"}'
        return (
            '{"thinking": "multiply", "answer": "42"}' if "6 times 7" in text else '{"thinking": "", "answer": "none"}'
        )

    plan = Plan(
        steps=(
            Step(id="write", agent="CoTAgent", input="Write the product."),
            Step(id="solve", agent="CoTAgent", input="Compute ${write}."),
        ),
        edges=(Edge("write", "solve"),),
    )
    runtime = Runtime(model=ScriptedModel.from_function(reply), registry=Registry.installed())
    outcome = await solved(plan, runtime)

    assert outcome.answer == "42"
    assert await ablation_fidelity([outcome], runtime) == Fidelity(steps=1, changed=1, changed_anyway=0)


async def test_an_input_that_becomes_empty_is_the_question_itself() -> None:
    plan = echo_plan("a>b", inputs={"b": "${a}"})
    outcome = await solved(plan, echo(lambda prompt: f"<{prompt}>"))
    runtime = echo(lambda prompt: prompt)

    await FixedPlan(plan=ablate(outcome, "a")).solve(TASK, runtime)

    assert runtime.model.prompts == ["the question"]
