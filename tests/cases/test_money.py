"""Tokens and money of whole runs: reported, cached, late, missing, capped."""

from dataclasses import replace

import pytest

from mas_orchestra.agents import Registry, sub_agent
from mas_orchestra.errors import PriceUnknownError
from mas_orchestra.models.base import Params
from mas_orchestra.models.cache import CachedModel
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Limits, StandaloneAgent, solve
from mas_orchestra.types import Message, OutcomeStatus, Role
from support.context import says
from support.endpoint import delta, stream, text
from support.runs import independent

QUESTION = "What is 6 times 7?"
ALONE = StandaloneAgent(agent="CoTAgent")
ANSWER = says("42")


PRICES = {"test": {"input": 1.25, "cache_read": 0.625, "output": 10.0}}


class TestMoney:
    async def test_cached_tokens_are_paid_once_through_a_whole_run(self, endpoint, runtime):
        usage = {
            "prompt_tokens": 262_960,
            "completion_tokens": 1_744,
            "prompt_tokens_details": {"cached_tokens": 257_955},
        }
        endpoint.handle(text(ANSWER, usage=usage))
        outcome = await solve(QUESTION, independent(2), runtime(prices=PRICES))

        assert outcome.cost_usd == pytest.approx(3 * 0.1849, abs=3e-4)
        assert outcome.usage.total_tokens == 3 * 264_704
        assert outcome.usage.cache_read_tokens == 3 * 257_955
        assert sum(step.cost_usd for step in outcome.steps) == pytest.approx(outcome.cost_usd)

    async def test_a_cost_limit_on_a_model_without_a_price_is_refused_before_anything_is_sent(self, endpoint, runtime):
        with pytest.raises(PriceUnknownError, match=r"no price is known.*--max-tokens"):
            await solve(QUESTION, ALONE, runtime(limits=Limits(max_cost_usd=1.0)))
        assert endpoint.count == 0

    async def test_with_a_token_limit_beside_it_the_run_goes_and_its_cost_is_unknown(self, endpoint, runtime):
        endpoint.handle(text(ANSWER))
        limits = Limits(max_cost_usd=1.0, max_tokens=10_000)
        outcome = await solve(QUESTION, ALONE, runtime(limits=limits))
        assert (outcome.answer, outcome.cost_usd) == ("42", None)

    async def test_a_spent_cost_limit_stops_the_run_and_keeps_what_was_done(self, endpoint, runtime):
        endpoint.handle(text(ANSWER, usage={"prompt_tokens": 1_000, "completion_tokens": 10}))
        chain = Plan(
            steps=tuple(Step(id=f"s{n}", agent="CoTAgent", input=f"${{s{n - 1}}}" if n else "") for n in range(9)),
            edges=tuple(Edge(f"s{n}", f"s{n + 1}") for n in range(8)),
        )
        limits = Limits(max_cost_usd=0.05)
        outcome = await solve(QUESTION, FixedPlan(plan=chain), runtime(prices=PRICES, limits=limits))
        assert outcome.status is OutcomeStatus.BUDGET_EXCEEDED
        assert outcome.cost_usd <= 0.05
        assert outcome.steps[0].output == "42"
        assert endpoint.count == outcome.calls < 9

    @pytest.mark.parametrize(
        ("usage", "is_estimated"), [({"prompt_tokens": 7, "completion_tokens": 5}, False), (None, True)]
    )
    async def test_usage_that_comes_with_the_end_of_a_stream_or_never(self, endpoint, runtime, usage, is_estimated):
        @sub_agent
        async def Streamer(context, call) -> str:  # noqa: N802  (a sub-agent's name)
            """Streams."""
            asked = Message(role=Role.USER, content=call.question)
            return (await context.complete((asked,), Params(stream=True), purpose="stream")).content

        endpoint.handle(stream(delta("4"), delta("2", finish="stop"), usage=usage))
        outcome = await solve(QUESTION, StandaloneAgent(agent="Streamer"), runtime(registry=Registry([Streamer])))

        assert outcome.answer == "42"
        assert outcome.usage.estimated is is_estimated
        assert outcome.usage.total_tokens == 12 if usage else outcome.usage.total_tokens > 0
        assert endpoint.bodies[0]["stream_options"] == {"include_usage": True}

    async def test_a_withheld_reply_is_not_kept_in_the_cache(self, endpoint, runtime, tmp_path):
        endpoint.script(*[text(ANSWER, finish="content_filter")] * 2, text(ANSWER))
        plain = runtime()
        kept = replace(plain, model=CachedModel(plain.model, tmp_path / "replies"))
        first, second, third = [await solve(QUESTION, ALONE, kept) for _ in range(3)]

        assert first.failure.code == "filtered_reply"
        assert (second.answer, third.answer) == ("42", "42")
        assert endpoint.count == 3
        assert third.usage.total_tokens == 0
