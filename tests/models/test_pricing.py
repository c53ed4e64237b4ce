"""What usage costs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.config import Price
from mas_orchestra.models.pricing import ModelPricing, price_usd
from mas_orchestra.types import Usage

OPENAI = "https://api.openai.com/v1"
MILLION = Usage(input_tokens=1_000_000, output_tokens=1_000_000)


def test_cached_tokens_are_paid_once():
    price = Price(input=1.25, cache_read=0.625, output=10)
    usage = Usage(input_tokens=262_960 - 257_955, cache_read_tokens=257_955, output_tokens=1_744)
    assert price_usd(price, usage) == pytest.approx(0.1849, abs=5e-5)
    assert usage.total_tokens == 264_704


def test_reasoning_is_part_of_the_output_and_not_paid_again():
    price = Price(input=1, output=10)
    with_reasoning = Usage(output_tokens=100, reasoning_tokens=90)
    assert price_usd(price, with_reasoning) == price_usd(price, Usage(output_tokens=100))


def test_cached_tokens_without_a_price_of_their_own_cost_as_input():
    usage = Usage(cache_read_tokens=1_000_000, cache_write_tokens=1_000_000)
    assert price_usd(Price(input=2, output=0), usage) == 4


def test_own_prices_come_first_and_may_be_of_one_endpoint():
    prices = {"gpt-4.1-mini": Price(input=1, output=1), "m@http://h/v1": Price(input=3, output=3)}
    assert ModelPricing("gpt-4.1-mini", OPENAI, prices).cost_usd(MILLION) == 2
    assert ModelPricing("m", "http://h/v1", prices).cost_usd(MILLION) == 6
    assert ModelPricing("m", "http://other/v1", prices).cost_usd(MILLION) is None


def test_a_price_of_nothing_is_known():
    assert ModelPricing("m", "http://h/v1", {"m": Price(input=0, output=0)}).cost_usd(MILLION) == 0.0


def test_a_listed_model_has_its_public_price():
    pricing = ModelPricing("gpt-4.1-mini", OPENAI, {})
    assert pricing.cost_usd(MILLION) == pytest.approx(0.4 + 1.6)
    assert pricing.cost_usd(Usage(cache_read_tokens=1_000_000)) == pytest.approx(0.1)


def test_a_listed_price_that_steps_up_with_the_prompt_does_so():
    pricing = ModelPricing("gemini-2.5-pro", "https://generativelanguage.googleapis.com/v1beta/openai", {})
    short, long = (pricing.cost_usd(Usage(input_tokens=tokens)) / tokens for tokens in (1_000, 300_000))
    assert long == pytest.approx(2 * short)


@pytest.mark.parametrize(
    ("name", "base_url"),
    [
        ("no-such-model", OPENAI),
        ("gpt-4.1-mini", "http://localhost:8000/v1"),
        ("gpt-4.1-mini", "https://other.example/v1"),
    ],
)
def test_what_is_not_known_is_not_free(name, base_url):
    assert ModelPricing(name, base_url, {}).cost_usd(MILLION) is None


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_price_of_two_calls_is_the_sum(fresh, read, written, output):
    price = Price(input=1.1, cache_read=0.3, cache_write=1.7, output=9.0)
    one = Usage(input_tokens=fresh, cache_read_tokens=read, cache_write_tokens=written, output_tokens=output)
    other = Usage(input_tokens=output, cache_read_tokens=written, output_tokens=fresh)
    assert price_usd(price, one + other) == pytest.approx(price_usd(price, one) + price_usd(price, other))
