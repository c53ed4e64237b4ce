"""Arithmetic of usage: sums do not depend on order or grouping, and no token is counted twice."""

import json
from dataclasses import FrozenInstanceError, fields
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.config import Price
from mas_orchestra.models.pricing import price_usd
from mas_orchestra.types import DoM, Message, OutcomeStatus, Role, StepStatus, ToolCall, Usage
from strategies import usages

BUCKETS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
"""Disjoint: each token is in exactly one. Reasoning is a part of the output."""


class TestUsage:
    @given(usages(), usages(), usages())
    def test_sums_do_not_depend_on_grouping(self, first, second, third):
        assert (first + second) + third == first + (second + third)

    @given(usages(), usages())
    def test_sums_do_not_depend_on_order(self, first, second):
        assert first + second == second + first

    @given(usages())
    def test_nothing_added_changes_nothing(self, usage):
        assert usage + Usage() == usage == Usage() + usage

    @given(st.lists(usages(), max_size=8))
    def test_the_total_of_a_sum_is_the_sum_of_the_totals(self, parts):
        assert reduce(add, parts, Usage()).total_tokens == sum(part.total_tokens for part in parts)

    @given(usages())
    def test_the_total_counts_every_bucket_once_and_reasoning_not_again(self, usage):
        assert usage.total_tokens == sum(getattr(usage, bucket) for bucket in BUCKETS)

    @given(st.lists(usages(), min_size=1, max_size=8))
    def test_reasoning_stays_a_part_of_the_output(self, parts):
        total = reduce(add, parts)
        assert total.reasoning_tokens <= total.output_tokens

    @given(st.lists(usages(), max_size=8))
    def test_one_estimate_makes_the_whole_sum_one(self, parts):
        assert reduce(add, parts, Usage()).estimated == any(part.estimated for part in parts)

    @given(usages(), usages())
    def test_adding_leaves_the_parts_as_they_are(self, first, second):
        before = (repr(first), repr(second))
        _ = first + second
        assert (repr(first), repr(second)) == before

    def test_every_field_takes_part_in_a_sum(self):
        """A field that is added to the class and forgotten in the sum would silently lose money."""
        numbers = {field.name: 2**place for place, field in enumerate(fields(Usage)) if field.type is int}
        doubled = Usage(**numbers) + Usage(**numbers)
        assert {name: getattr(doubled, name) for name in numbers} == {name: 2 * n for name, n in numbers.items()}

    def test_it_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            Usage().input_tokens = 3

    def test_it_has_no_room_for_misspelt_fields(self):
        with pytest.raises(TypeError, match="prompt_tokens"):
            Usage(prompt_tokens=3)


class TestPriceOfUsage:
    prices = st.builds(
        Price,
        input=st.integers(0, 100).map(float),
        output=st.integers(0, 100).map(float),
        cache_read=st.none() | st.integers(0, 100).map(float),
        cache_write=st.none() | st.integers(0, 100).map(float),
    )

    @given(prices, usages(), usages())
    def test_the_price_of_a_sum_is_the_sum_of_the_prices(self, price, first, second):
        apart = price_usd(price, first) + price_usd(price, second)
        assert price_usd(price, first + second) == pytest.approx(apart)

    @given(usages())
    def test_one_price_for_all_is_the_price_of_the_total(self, usage):
        assert price_usd(Price(input=3, output=3), usage) == pytest.approx(3e-6 * usage.total_tokens)

    @given(usages())
    def test_a_cached_token_costs_as_much_as_a_fresh_one_where_no_price_is_set_apart(self, usage):
        moved = Usage(
            input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        assert price_usd(Price(input=2, output=5), usage) == pytest.approx(price_usd(Price(input=2, output=5), moved))

    @given(usages())
    def test_what_is_free_costs_nothing(self, usage):
        assert price_usd(Price(input=0, output=0), usage) == 0


@pytest.mark.parametrize("kind", [DoM, OutcomeStatus, StepStatus, Role])
def test_states_are_their_words_in_json(kind):
    for member in kind:
        assert json.loads(json.dumps(member)) == member.value == str(member) == member.name.lower()


def test_a_message_is_a_value():
    call = ToolCall(id="c1", name="search", arguments="{}")
    message = Message(role=Role.ASSISTANT, content="", tool_calls=(call,))
    assert message == Message(role=Role.ASSISTANT, content="", tool_calls=(call,))
    assert len({message, Message(role=Role.ASSISTANT, content="", tool_calls=(call,))}) == 1
    with pytest.raises(FrozenInstanceError):
        message.content = "changed"
