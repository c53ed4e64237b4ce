"""Replies that are empty, in pieces or in a form that was not asked for, met by whole runs."""

import json as js

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.models.base import Params
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Orchestrated, PlanWriter, StandaloneAgent, solve
from mas_orchestra.types import OutcomeStatus
from support.context import says
from support.endpoint import completion, delta, json, message, status, stream, text
from support.runs import independent

QUESTION = "What is 6 times 7?"
ALONE = StandaloneAgent(agent="CoTAgent")
ANSWER = says("42")


NULL = json(completion(message(None, reasoning="So final: 42"), usage={"prompt_tokens": 30, "completion_tokens": 37}))


class TestEmptiness:
    async def test_null_content_beside_reasoning_is_asked_for_again_and_never_an_answer(self, endpoint, runtime):
        endpoint.handle(NULL)
        outcome = await solve(QUESTION, ALONE, runtime())

        assert (outcome.status, outcome.failure.code) == (OutcomeStatus.STEP_FAILED, "empty_reply")
        assert endpoint.count == 2
        assert outcome.usage.output_tokens == 2 * 37
        assert outcome.steps[0].calls[0].choices[0].reasoning == "So final: 42"

    async def test_the_orchestrators_null_content_is_asked_for_again_too(self, endpoint, runtime):
        plan = {"thinking": "", "steps": [{"id": "a", "agent": "CoTAgent", "input": ""}], "edges": []}
        endpoint.script(NULL, text(js.dumps(plan)), text(ANSWER))
        outcome = await solve(QUESTION, Orchestrated(), runtime())

        assert outcome.answer == "42"
        assert outcome.usage.output_tokens == 37 + 4 + 4

    @pytest.mark.parametrize(
        "reply",
        [
            text(""),
            text("   "),
            json(completion(message(None))),
            json(
                completion(
                    message(
                        "", tool_calls=[{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
                    )
                )
            ),
        ],
        ids=["empty", "blank", "null", "tools"],
    )
    async def test_an_empty_reply_is_repeated_once_and_never_passed_on(self, endpoint, runtime, reply):
        endpoint.handle(reply)
        plan = Plan(
            steps=(Step(id="a", agent="CoTAgent", input="A."), Step(id="b", agent="CoTAgent", input="Read ${a}.")),
            edges=(Edge("a", "b"),),
        )
        outcome = await solve(QUESTION, FixedPlan(plan=plan), runtime())

        assert [str(step.status) for step in outcome.steps] == ["failed", "skipped"]
        assert outcome.failure.code == "empty_reply"
        assert endpoint.count == 2

    async def test_a_vote_counts_what_was_empty(self, endpoint, runtime):
        choices = [message(ANSWER), message(""), message(None), message(ANSWER), message(says("7"))]
        endpoint.handle(json(completion(*choices)))
        outcome = await solve(QUESTION, StandaloneAgent(agent="SCAgent"), runtime())

        assert outcome.answer == "42"
        assert outcome.steps[0].details["left_out"] == {"empty_reply": 2}
        assert "2 of 5 samples left out of the vote: empty_reply" in [warning.message for warning in outcome.warnings]

    async def test_a_debater_that_fails_in_one_round_is_shown_as_missing(self, endpoint, runtime):
        rounds = {"B": 0}

        async def behave(call):
            if "role: B" in str(call.body["messages"]):
                rounds["B"] += 1
                if rounds["B"] in {2, 3}:  # the second round, and its one repetition
                    return await text("")(call)
            return await text(ANSWER)(call)

        endpoint.handle(behave)
        registry = Registry.only("DebateAgent", options={"DebateAgent": {"rounds": 3}})
        system = StandaloneAgent(agent="DebateAgent", arguments={"roles": ["A", "B", "C"]})
        outcome = await solve(QUESTION, system, runtime(registry=registry))

        assert outcome.answer == "42"
        missing = [(each["round"], each["role"]) for each in outcome.steps[0].details["missing"]]
        assert missing == [(2, "B")]
        third = [call.prompt for call in endpoint.calls if "B gave no usable reply in the last round" in call.prompt]
        assert len(third) == 2, "A and C are told in the third round"


class TestStreams:
    async def test_two_tool_calls_whose_pieces_come_interleaved_are_a_plan_of_two_steps(self, endpoint, runtime):
        def piece(index, **function):
            return delta(tool_calls=[{"index": index, "type": "function", "function": function}])

        first = js.dumps({"id": "a", "description": "", "input": "Multiply."})
        second = js.dumps({"id": "b", "description": "", "input": "Check ${a}."})
        pieces = [piece(0, name="CoTAgent", arguments=""), piece(1, name="CoTAgent", arguments="")]
        for at in range(0, max(len(first), len(second)), 7):
            pieces += [piece(index, arguments=text[at : at + 7]) for index, text in ((0, first), (1, second))]
        endpoint.script(stream(*pieces, delta(finish="tool_calls")), text(ANSWER))
        writer = PlanWriter(format="tools", params=Params(stream=True))
        outcome = await solve(QUESTION, Orchestrated(writer=writer), runtime())

        assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
        assert [(step.id, step.input) for step in outcome.steps] == [("a", "Multiply."), ("b", "Check 42.")]

    async def test_pieces_that_nothing_tells_apart_are_a_typed_error_and_no_guess(self, endpoint, runtime):
        def piece(arguments):
            return delta(
                tool_calls=[{"index": 0, "type": "function", "function": {"name": "CoTAgent", "arguments": arguments}}]
            )

        mixed = [piece('{"id": "a", '), piece('{"id": "b", '), piece('"input": "1"}'), piece('"input": "2"}')]
        endpoint.handle(stream(*mixed, delta(finish="tool_calls")))
        writer = PlanWriter(format="tools", params=Params(stream=True))
        outcome = await solve(QUESTION, Orchestrated(writer=writer), runtime())

        assert outcome.status is OutcomeStatus.ENDPOINT_ERROR
        assert outcome.failure.code == "broken_reply"
        assert outcome.usage.total_tokens > 0


class TestSchemas:
    async def test_an_endpoint_that_refuses_schemas_is_asked_without_for_plans_and_for_replies(self, endpoint, runtime):
        plan = {
            "thinking": "",
            "steps": [{"id": "a", "agent": "DebateAgent", "roles": ["A", "B"], "input": ""}],
            "edges": [],
        }

        async def behave(call):
            if "response_format" in call.body:
                return await status(400, "This model does not support response format `json_schema`")(call)
            is_plan = "orchestrator" in call.body["messages"][0]["content"]
            return await text(js.dumps(plan) if is_plan else ANSWER)(call)

        endpoint.handle(behave)
        shared = runtime()
        first = await solve(QUESTION, Orchestrated(), shared)
        assert first.answer == "42", first.failure
        assert "response_format left out" in first.planning[0].notes[0]
        refused = sum("response_format" in body for body in endpoint.bodies)
        assert refused == 1, "learnt once"

        second = await solve(QUESTION, Orchestrated(), shared)
        assert second.answer == "42"
        assert sum("response_format" in body for body in endpoint.bodies) == 1

    async def test_a_sub_agents_first_call_may_be_the_one_that_finds_out(self, endpoint, runtime):
        async def behave(call):
            refusal = status(422, "json_schema is not available")
            return await (refusal if "response_format" in call.body else text(ANSWER))(call)

        endpoint.handle(behave)
        outcome = await solve(QUESTION, independent(6), runtime())
        assert outcome.status is OutcomeStatus.ANSWERED, outcome.failure
        assert all(step.output == "42" for step in outcome.steps)
