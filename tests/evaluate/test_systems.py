"""Systems from texts: what each form means, what it sends, and what a wrong one is told."""

import dataclasses
import json
import re

import pytest

from mas_orchestra.errors import ConfigError, InvalidPlanError, ServerError, UnknownNameError, UsageError
from mas_orchestra.evaluate.contenders import build_contenders
from mas_orchestra.evaluate.models_of_run import OpenModels
from mas_orchestra.evaluate.plan_scorers import MostCommonPlan, ShortestPlan, plan_scorer
from mas_orchestra.evaluate.store import Price
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import DoM, OutcomeStatus, Usage
from support.evaluation import PLAN, RIGHT, WRONG, config_of, opened, scripted, work

TASK = Task(id="t", question="What is 6 times 7?", answers=("42",), kind="text")
ONE = Plan(steps=(Step(id="a", agent="CoTAgent"),))
TWO = Plan(steps=(Step(id="a", agent="CoTAgent"), Step(id="b", agent="SCAgent", input="${a}")), edges=(Edge("a", "b"),))


def contenders(*systems, models=None, scorer=None, **settings):
    config = config_of(*systems, **settings)
    return build_contenders(config, OpenModels(config, {config.model: scripted(), **(models or {})}), scorer=scorer)


def names(*systems, **settings):
    return [one.name for one in contenders(*systems, **settings)]


def json_plan(*agents: str) -> str:
    """A plan of a chain of such sub-agents in the format that is asked for."""
    steps = [{"id": f"s{number}", "agent": agent, "input": ""} for number, agent in enumerate(agents)]
    edges = [[f"s{number}", f"s{number + 1}"] for number in range(len(agents) - 1)]
    return json.dumps({"thinking": "", "steps": steps, "edges": edges, "answer": None})


def is_planning(messages) -> bool:
    return "CoTAgent" in messages[0].content


@pytest.mark.parametrize(
    ("text", "calls"),
    [("cot", 1), ("sc", 5), ("sc:3", 3), ("debate:3x5", 16), ("debate:2x2", 5), ("reflexion:2", 5)],
)
def test_single_agents(text, calls):
    (one,) = contenders(text)

    assert one.name == text
    assert one.is_single_agent
    assert one.expected_calls == one.worst_calls == calls


def test_two_sizes_of_one_sub_agent_take_part_side_by_side():
    three, seven = contenders("sc:3", "sc:7")

    assert three.runtime.registry["SCAgent"].card.cost == "3 calls at the same time"
    assert seven.runtime.registry["SCAgent"].card.cost == "7 calls at the same time"


@pytest.mark.parametrize(
    ("text", "dom"), [("orchestrated", "high"), ("orchestrated dom=low", "low"), ("orchestrated   dom=high", "high")]
)
def test_orchestrated(text, dom):
    one, matched = contenders(text)

    assert one.system.writer.dom is DoM(dom)
    assert not one.is_single_agent
    assert one.name == " ".join(text.split())
    assert matched.name == f"sc@cost:{one.name}"
    assert matched.is_single_agent
    assert matched.reads == one.name


def test_an_orchestrator_of_its_own():
    writer = scripted()
    one = contenders("orchestrated:scripted:writer dom=low", models={"scripted:writer": writer}, matched_cost=False)[0]

    assert one.runtime.orchestrator is writer
    assert one.runtime.model is not writer


def test_an_orchestrator_for_all():
    writer = scripted()
    one = contenders("orchestrated", models={"scripted:w": writer}, orchestrator="scripted:w", matched_cost=False)[0]

    assert one.runtime.orchestrator is writer


def test_orchestrators_are_not_offered_a_search_that_cannot_work(tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "1", "text": "Six sevens are 42."}\n')

    without = contenders("orchestrated", matched_cost=False)[0]
    with_corpus = contenders("orchestrated", matched_cost=False, corpus=str(corpus))[0]

    assert "WebSearchAgent" not in without.runtime.registry
    assert "WebSearchAgent" in with_corpus.runtime.registry


def test_the_matched_cost_baseline_is_always_there_once():
    assert names("cot", "orchestrated dom=high") == ["cot", "orchestrated dom=high", "sc@cost:orchestrated dom=high"]
    assert names("sc@cost:orchestrated", "orchestrated") == ["sc@cost:orchestrated", "orchestrated"]
    assert names("orchestrated", matched_cost=False) == ["orchestrated"]
    assert names("cot", "sc@cost:cot") == ["cot", "sc@cost:cot"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cott", "Did you mean 'cot'"),
        ("debat:3x5", "Did you mean 'debate'"),
        ("orchestratd dom=high", "Did you mean 'orchestrated'"),
        ("majority_off:3", "Did you mean 'majority_of'"),
        ("nothing like it", "names no sub-agent"),
        ("sc:many", "not the number of samples"),
        ("cot:3", "CoTAgent has no size"),
        ("orchestrated dom=middle", "neither low nor high"),
        ("orchestrated temperature=1", "unknown option 'temperature'; it accepts: dom, format, repair_turns"),
        ("orchestrated format=yaml", "format is one of xml, tools, json"),
        ("orchestrated repair_turns=many", "repair_turns is a number"),
        ("cot dom=low", "unknown option 'dom'"),
        ("best_of:0 scorer=shortest", "no number of plans"),
        ("best_of:x scorer=shortest", "no number of plans"),
        ("majority_of:", "no number of plans"),
        ("best_of:3", "needs a plan scorer"),
        ("workflow_search", "needs `validation`"),
        ("search:3", "nothing to search"),
        ("sc@cost:debate:2x2", "needs the system 'debate:2x2' in the same run"),
        ("plan:nowhere.xml", "cannot read the plan nowhere.xml"),
        ("", "names no sub-agent"),
    ],
)
def test_a_wrong_system_is_told_what_is_right(text, told):
    with pytest.raises(UsageError, match=re.escape(told)):
        contenders(text)


def test_the_forms_are_listed_for_an_unknown_system():
    with pytest.raises(ConfigError) as caught:
        contenders("orchestratd")

    for form in (
        "sc[:SAMPLES]",
        "orchestrated[:URI]",
        "plan:FILE",
        "best_of:N",
        "majority_of:N",
        "workflow_search",
        "sc@cost:SYSTEM",
    ):
        assert form in str(caught.value)


def test_a_system_takes_part_once():
    with pytest.raises(ConfigError, match="'sc:3' is there twice"):
        contenders("sc:3", " sc:3 ")


def test_a_model_is_needed():
    config = config_of("cot").model_copy(update={"model": None})

    with pytest.raises(ConfigError, match="no model to ask"):
        build_contenders(config, OpenModels(config, {}))


async def test_a_fixed_plan(tmp_path):
    file = tmp_path / "my plan.xml"
    file.write_text(PLAN)
    with opened(tmp_path / "run", config_of(f"plan:{file} dom=low", matched_cost=False)) as desk:
        await work(desk)

        assert {(a.score, a.agents) for a in desk.store.attempts()} == {(1.0, ("CoTAgent",))}


@pytest.mark.parametrize("content", ["no plan at all", PLAN.replace("CoTAgent", "Nobody")])
def test_a_file_without_a_plan_that_can_run(tmp_path, content):
    file = tmp_path / "plan.xml"
    file.write_text(content)

    with pytest.raises(InvalidPlanError, match=r"plan\.xml holds no plan that can run"):
        contenders(f"plan:{file}")


async def solved(contender, **more):
    return await contender.system.solve(TASK, contender.runtime, **more)


def orchestrator(*plans: str):
    """A model that writes these plans in turn and answers everything else right."""
    left = list(plans)

    def reply(messages, params):
        if not is_planning(messages):
            return RIGHT
        return left.pop(0) if left else "no plan"

    return scripted(reply)


async def test_best_of_runs_the_plan_that_the_scorer_picks_and_only_that():
    model = orchestrator(json_plan("SCAgent", "CoTAgent"), json_plan("CoTAgent"), "no plan", json_plan("SCAgent"))
    one = contenders("best_of:4 scorer=shortest", models={"scripted:model": model}, matched_cost=False)[0]

    outcome = await solved(one)

    assert outcome.answer == "42"
    assert [step.agent for step in outcome.plan.steps] == ["CoTAgent"]
    assert len(outcome.planning) >= 4, "every plan that was written was paid for"
    assert len({call.step for call in outcome.planning}) == 1


async def test_best_of_without_any_valid_plan_is_an_invalid_plan():
    one = contenders(
        "best_of:2 scorer=shortest", models={"scripted:model": scripted(lambda m, p: "no plan")}, matched_cost=False
    )[0]

    assert (await solved(one)).status is OutcomeStatus.INVALID_PLAN


async def test_plans_are_sampled_apart():
    seeds = []

    def reply(messages, params):
        seeds.append(params.seed)
        return json_plan("CoTAgent") if is_planning(messages) else RIGHT

    one = contenders("best_of:3 scorer=most_common", models={"scripted:model": scripted(reply)}, matched_cost=False)[0]
    await solved(one)

    assert len(set(seeds[:3])) == 3


class Reversed:
    """A plan reward model of a user's own: the last is best."""

    name = "reversed"

    async def score(self, task, plans):
        return list(range(len(plans)))


async def test_a_plan_reward_model_of_one_s_own():
    model = orchestrator(json_plan("CoTAgent"), json_plan("SCAgent"))
    one = contenders("best_of:2", scorer=Reversed(), models={"scripted:model": model}, matched_cost=False)[0]

    assert [step.agent for step in (await solved(one)).plan.steps] == ["SCAgent"]


async def test_scorers_that_are_shipped():
    assert await ShortestPlan().score(TASK, [TWO, ONE]) == [-2.0, -1.0]
    assert await MostCommonPlan().score(TASK, [ONE, TWO, TWO]) == [1.0, 2.0, 2.0]
    with pytest.raises(UnknownNameError, match="Did you mean 'shortest'"):
        plan_scorer("shortes")


async def test_majority_of_runs_every_plan_and_votes():
    answers = iter([WRONG, RIGHT, RIGHT.replace("42", "42.0")])

    def reply(messages, params):
        return json_plan("CoTAgent") if is_planning(messages) else next(answers)

    one = contenders("majority_of:3", models={"scripted:model": scripted(reply)}, matched_cost=False)[0]
    outcome = await solved(one)

    assert outcome.answer == "42", "42 and 42.0 are one answer"
    assert [step.id for step in outcome.steps] == ["1/s0", "2/s0", "3/s0"]
    assert outcome.calls == 6
    assert (
        sum(call.usage.total_tokens for step in outcome.steps for call in step.calls)
        + sum(call.usage.total_tokens for call in outcome.planning)
        == outcome.usage.total_tokens
    )


async def test_majority_of_survives_a_run_that_breaks():
    count = 0

    def reply(messages, params):
        nonlocal count
        if is_planning(messages):
            return json_plan("CoTAgent")
        count += 1
        if count == 1:
            raise ServerError("down")
        return RIGHT

    one = contenders("majority_of:3", models={"scripted:model": scripted(reply)}, matched_cost=False)[0]

    assert (await solved(one)).answer == "42"


async def test_majority_of_with_every_run_broken_is_a_broken_endpoint():
    def reply(messages, params):
        raise ServerError("down")

    one = contenders("majority_of:2", models={"scripted:model": scripted(reply)}, matched_cost=False)[0]

    assert (await solved(one)).status is OutcomeStatus.ENDPOINT_ERROR


async def test_majority_of_keeps_the_limits_of_one_attempt():
    one = contenders(
        "majority_of:4", limits={"max_calls": 9}, models={"scripted:model": scripted(lambda m, p: json_plan("SCAgent"))}
    )[0]

    assert (await solved(one)).calls <= 9


class HundredTokens:
    """A model whose samples take a hundred tokens each, at a dollar a million."""

    def __init__(self):
        self._model = scripted()
        self.uri, self.abilities = self._model.uri, self._model.abilities

    def cost_usd(self, usage):
        return usage.total_tokens / 1e6

    async def complete(self, messages, params, *, queue=None):
        completion = await self._model.complete(messages, params, queue=queue)
        return dataclasses.replace(completion, usage=Usage(output_tokens=100 * params.n))

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("cost", "samples", "unit"),
    [
        (Price(calls=3, tokens=450, cost_usd=450e-6, is_whole=True), 5, "cost_usd"),
        (Price(calls=3, tokens=450, cost_usd=100e-6, is_whole=True), 1, "cost_usd"),
        (Price(calls=3, tokens=450, cost_usd=1e-9, is_whole=True), 1, "cost_usd"),
        (Price(calls=3, tokens=450, cost_usd=None, is_whole=True), 5, "tokens"),
        (Price(calls=3, tokens=450, cost_usd=0.0, is_whole=True), 5, "tokens"),
        (Price(calls=3, tokens=10, cost_usd=1e-5, is_whole=False), 3, "calls"),
        (Price(calls=4, tokens=0, cost_usd=0.0, is_whole=True), 4, "calls"),
    ],
)
async def test_matched_cost_spends_what_the_other_spent_within_one_sample(cost, samples, unit):
    model = HundredTokens()
    matched = contenders("cot", "sc@cost:cot", models={"scripted:model": model})[1]

    outcome = await matched.system.solve_for(cost, TASK, matched.runtime)

    (step,) = outcome.steps
    assert step.agent == "SCAgent"
    assert step.details["samples"] == samples
    assert step.details["matched"]["unit"] == unit
    sample = {"cost_usd": 100e-6, "tokens": 100, "calls": 1}[unit]
    target, spent = step.details["matched"]["target"], step.details["matched"]["spent"]
    assert target - 1e-12 <= max(spent, target) < max(target, sample) + sample


@pytest.mark.parametrize("limit", [{"max_calls": 3}, {"max_tokens": 700, "max_calls": 9}])
async def test_a_limit_of_the_run_does_not_stop_the_matched_baseline_short(limit):
    """Its cheap calls are many: stopped by a limit on calls it would lose to the system that it is matched with."""
    cost = Price(calls=3, tokens=1_000, cost_usd=None, is_whole=True)
    matched = contenders("cot", "sc@cost:cot", models={"scripted:model": HundredTokens()}, limits=limit)[1]

    outcome = await matched.system.solve_for(cost, TASK, matched.runtime)

    assert outcome.status is OutcomeStatus.ANSWERED
    assert outcome.steps[0].details["samples"] == 10


async def test_matched_cost_runs_after_the_system_that_it_reads(tmp_path):
    config = config_of("sc@cost:debate:2x2", "debate:2x2", "cot", attempts=2, concurrency=8)
    with opened(tmp_path / "run", config, HundredTokens()) as desk:
        ending = await work(desk)
        costs = {}
        for attempt in desk.store.attempts():
            costs.setdefault((attempt.task_id, attempt.attempt), {})[attempt.system] = attempt.cost_usd

        assert ending.unscored == 0
        assert len(costs) == 6
        for cost in costs.values():
            assert cost["sc@cost:debate:2x2"] == pytest.approx(cost["debate:2x2"]) == pytest.approx(500e-6)


async def test_matched_cost_waits_for_an_attempt_without_a_score(tmp_path):
    is_down = True

    def reply(messages, params):
        if is_down and "judge" in messages[0].content.lower():
            raise ServerError("down")
        return RIGHT

    config = config_of("debate:2x2", "sc@cost:debate:2x2", attempts=1)
    with opened(tmp_path / "run", config, scripted(reply)) as desk:
        ending = await work(desk)

        assert ending.unscored == 2 * 3
        assert {a.system for a in desk.store.attempts()} == {"debate:2x2"}

    is_down = False
    with opened(tmp_path / "run", config, scripted(reply)) as desk:
        assert (await work(desk)).unscored == 0
        assert len(list(desk.store.attempts())) == 6


@pytest.mark.parametrize("reference", [None, "sc:3", "orchestrated"])
def test_the_reference_is_the_first_single_agent_unless_another_is_named(tmp_path, reference):
    with opened(tmp_path / "run", config_of("orchestrated", "cot", "sc:3", reference=reference)) as desk:
        found = [one.name for one in desk.store.head().systems if one.is_reference]

    assert found == [reference or "cot"]


def test_a_reference_that_does_not_take_part(tmp_path):
    with pytest.raises(ConfigError, match="reference 'debate' is none of the systems: cot"):
        opened(tmp_path / "run", config_of("cot", reference="debate")).__enter__()


@pytest.mark.parametrize(
    ("uri", "simulated"),
    [("sim:weak", True), ("openai:sim:weak@http://127.0.0.1:8123/v1", True), ("scripted:model", False)],
)
def test_a_simulated_model_is_known_however_it_is_reached(uri, simulated):
    model = scripted()
    model._uri = uri
    one = contenders("cot", model=uri, models={uri: model})[0]

    assert one.info(is_reference=False).is_simulated is simulated
