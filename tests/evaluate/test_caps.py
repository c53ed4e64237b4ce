"""Caps of a whole run: refused before the first call, or stopped cleanly, never passed."""

import dataclasses

import pytest

from mas_orchestra.config import Price
from mas_orchestra.errors import BudgetError, PriceUnknownError
from mas_orchestra.evaluate.config import RunCaps
from mas_orchestra.models import Rule, Script, ScriptedModel
from mas_orchestra.types import Usage
from support.evaluation import RIGHT, config_of, opened, scripted, work


def priced(tokens: int = 100, price: float = 10_000.0) -> ScriptedModel:
    """A model whose calls take so many tokens at so many dollars a million."""
    rule = Rule(reply=RIGHT, usage={"input_tokens": tokens // 2, "output_tokens": tokens - tokens // 2})
    return ScriptedModel(script=Script(default=rule, price=Price(input=price, output=price)), name="model")


def capped(**caps):
    return config_of("cot", attempts=4, caps=caps)


async def test_calls_are_capped_exactly_and_a_resume_with_more_room_finishes(tmp_path):
    model = scripted()
    with opened(tmp_path / "run", capped(max_calls=5), model) as desk:
        ending = await work(desk)

        assert model.calls == 5
        assert ending.is_capped
        assert "5" in ending.stopped
        assert desk.tallies().by_system["cot"].scored == 5

    with opened(tmp_path / "run", capped(max_calls=100), model) as desk:
        ending = await work(desk)

        assert ending.stopped is None
        assert model.calls == 12
        assert desk.tallies().by_system["cot"].scored == 12


async def test_what_earlier_starts_spent_counts(tmp_path):
    model = scripted()
    for _ in range(3):
        with opened(tmp_path / "run", capped(max_calls=5), model) as desk:
            await work(desk)

    assert model.calls == 5


async def test_an_attempt_that_a_cap_cut_is_unscored_and_tried_again(tmp_path):
    config = config_of("debate:2x2", attempts=1, concurrency=1, caps={"max_calls": 7})
    with opened(tmp_path / "run", config, tasks=2) as desk:
        await work(desk)
        cut = [a for a in desk.store.attempts() if a.score is None]

        assert [(a.reason, a.calls) for a in cut] == [("run_cap_reached", 2)]
        assert desk.store.spent().calls == 7

    with opened(tmp_path / "run", config.model_copy(update={"caps": RunCaps()}), tasks=2) as desk:
        await work(desk)

        assert [a.score for a in desk.store.attempts()] == [1.0, 1.0]
        assert desk.store.spent().calls == 5 + 2 + 5, "what the cut attempt took stays counted"


async def test_tokens_are_capped(tmp_path):
    with opened(tmp_path / "run", capped(max_tokens=10_000), priced(tokens=1000)) as desk:
        ending = await work(desk)

        assert ending.is_capped
        assert desk.store.spent().tokens <= 10_000


async def test_money_is_capped(tmp_path):
    with opened(tmp_path / "run", capped(max_cost_usd=90.0), priced(tokens=1000)) as desk:
        ending = await work(desk)

        assert ending.is_capped
        assert 0 < desk.store.spent().cost_usd <= 90.0


def test_an_estimate_over_a_cap_is_refused_before_the_first_call(tmp_path):
    model = scripted()
    with opened(tmp_path / "run", capped(max_calls=5), model) as desk:
        with pytest.raises(BudgetError, match=r"cap of 5 calls: expected 12 calls, at worst 12 calls.*--stop-at-cap"):
            desk.check_caps(stop_at_cap=False)

        desk.check_caps(stop_at_cap=True)
    assert model.calls == 0


@pytest.mark.parametrize(
    ("caps", "word"),
    [({"max_tokens": 10}, "10 tokens"), ({"max_cost_usd": 0.001}, r"\$0\.0010"), ({"max_calls": 1}, "1 calls")],
)
def test_every_cap_is_compared_with_the_estimate(tmp_path, caps, word):
    with opened(tmp_path / "run", capped(**caps), priced()) as desk, pytest.raises(BudgetError, match=word):
        desk.check_caps(stop_at_cap=False)


def test_a_worst_case_over_the_cap_is_refused_too(tmp_path):
    config = config_of(
        "orchestrated", matched_cost=False, limits={"max_calls": 50}, attempts=1, caps={"max_calls": 100}
    )
    with opened(tmp_path / "run", config) as desk, pytest.raises(BudgetError, match="at worst 150 calls"):
        desk.check_caps(stop_at_cap=False)


async def test_what_is_stored_is_not_estimated_again(tmp_path):
    with opened(tmp_path / "run", config_of("cot", attempts=4)) as desk:
        await work(desk)
    with opened(tmp_path / "run", capped(max_calls=12)) as desk:
        desk.check_caps(stop_at_cap=False)

        assert desk.estimate().total.calls == 0


class Unpriced:
    """A model whose price nobody knows."""

    def __init__(self):
        self._model = scripted()
        self.uri, self.abilities = self._model.uri, self._model.abilities

    def cost_usd(self, usage: Usage):
        return None

    async def complete(self, messages, params, *, queue=None):
        return await self._model.complete(messages, params, queue=queue)

    async def close(self):
        pass


def test_a_money_cap_needs_a_price(tmp_path):
    with opened(tmp_path / "run", capped(max_cost_usd=1.0), Unpriced()) as desk:
        for stop_at_cap in (False, True):
            with pytest.raises(PriceUnknownError, match="no price is known for scripted:model"):
                desk.check_caps(stop_at_cap=stop_at_cap)


async def test_an_unknown_price_is_unknown_everywhere_and_never_zero(tmp_path):
    with opened(tmp_path / "run", config_of("cot"), Unpriced()) as desk:
        assert desk.estimate().total.cost_usd is None
        await work(desk)

        assert desk.store.spent().cost_usd is None
        assert {a.cost_usd for a in desk.store.attempts()} == {None}
        assert desk.tallies().by_system["cot"].cost_usd is None


def test_estimates_add_up(tmp_path):
    config = config_of("cot", "sc:3", "debate:2x2", "orchestrated", attempts=2)
    with opened(tmp_path / "run", config, priced()) as desk:
        found = desk.estimate()

        by_system = {one.system: one for one in found.systems}
        assert [by_system[name].calls for name in ("cot", "sc:3", "debate:2x2")] == [6, 18, 30]
        assert [by_system[name].worst_calls for name in ("cot", "sc:3", "debate:2x2")] == [6, 18, 30]
        assert by_system["orchestrated"].worst_calls is None, "the plan is not known"
        assert by_system["sc@cost:orchestrated"].cost_usd == pytest.approx(by_system["orchestrated"].cost_usd)
        assert found.total.calls == pytest.approx(sum(one.calls for one in found.systems))
        assert found.total.worst_calls is None, "an unknown part makes the whole unknown"
        assert found.total.attempts == 5 * 6


def test_limits_of_an_attempt_give_the_worst_case(tmp_path):
    limits = {"max_calls": 10, "max_tokens": 1000, "max_cost_usd": 0.5}
    config = config_of("orchestrated", matched_cost=False, limits=limits)
    with opened(tmp_path / "run", config, priced()) as desk:
        total = desk.estimate().total

        assert (total.worst_calls, total.worst_tokens, total.worst_cost_usd) == (60, 6000, pytest.approx(3.0))


def test_a_run_without_caps_is_never_refused(tmp_path):
    with opened(tmp_path / "run", config_of("cot", attempts=1000), Unpriced()) as desk:
        desk.check_caps(stop_at_cap=False)

        assert dataclasses.asdict(desk.estimate().total)["attempts"] == 3000
