"""Short texts: what is the same text, lists in any order, nobody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.score.text import Metric, TextScorer, f1, normalised
from mas_orchestra.tasks.task import Task


def task(*answers, is_list=False):
    return Task(
        id="t",
        question="Who was it?",
        answers=answers,
        kind="text",
        metadata={"answer_form": "list"} if is_list else {},
    )


async def value(answer, *gold, is_list=False):
    return (await TextScorer().score(task(*gold, is_list=is_list), answer)).value


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Ann", "ann"),
        ("Ann", '["ann"]'),
        ("The Beatles", "beatles!"),
        ("New York", "new-york"),
        ("A", "a"),
        ("a an the", "A an the"),
        ("C++", "C++"),
        ("yes", "Yes."),
        ("Ann", "Answer: Ann"),
        ("Ann", "\\boxed{Ann}"),
        ("Zoë", "Zoe\u0308"),
    ],
)
async def test_the_same_text_is_right(gold, answer):
    assert await value(answer, gold) == await value(gold, gold) == 1.0


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("Ann", "Ann and Bob"),
        ("Ann", '["Ann", "Bob"]'),
        ("Ann", "Who was it?"),
        ("Ann", "It is one of Ann, Bob, Cid"),
        ("A", "B"),
        ("C++", "C"),
        ("the", "a"),
        ("Ann", "correct"),
        ("yes", "yes and no"),
    ],
)
async def test_another_text_is_wrong(gold, answer):
    assert await value(answer, gold) == 0.0


async def test_any_alias_will_do():
    assert [await value(answer, "USA", "United States") for answer in ("usa", "the United States", "UK")] == [1, 1, 0]


@pytest.mark.parametrize(
    "answer", ["Ann, Bob", "Bob and Ann", '["bob", "Ann"]', "- Ann\n- Bob", "1. Bob\n2. Ann", "Ann; Bob.", "Ann & Bob"]
)
async def test_a_list_is_right_in_any_order_and_form(answer):
    assert await value(answer, "Ann", "Bob", is_list=True) == 1.0
    assert await value(answer, "Ann", is_list=True) == 0.0
    assert await value(answer, "Ann", "Bob", "Cid", is_list=True) == 0.0


async def test_names_may_hold_what_separates_names():
    assert await value("Simon and Garfunkel; Queen", "Queen", "Simon and Garfunkel", is_list=True) == 1.0
    assert await value("Nothing Else Matters", "Nothing Else Matters", is_list=True) == 1.0


@pytest.mark.parametrize("answer", ["None", "[]", "nobody qualifies", "No one.", "n/a", "none of them qualifies"])
async def test_nobody_is_the_empty_list_in_many_words(answer):
    assert await value(answer, is_list=True) == 1.0
    assert await value(answer, "Ann", is_list=True) == 0.0


async def test_somebody_is_not_nobody():
    assert await value("Ann", is_list=True) == 0.0


async def test_the_parts_hold_both_metrics_and_the_value_is_the_one_asked_for():
    score = await TextScorer(metric=Metric.F1).score(task("Paris"), "in the city of Paris")

    assert (score.value, score.parts, score.reason) == (0.4, {"exact": 0.0, "f1": 0.4}, "wrong")


async def test_the_f1_of_a_list_counts_items():
    score = await TextScorer(metric=Metric.F1).score(task("Ann", "Bob", is_list=True), "Ann, Cid")

    assert score.value == 0.5


async def test_without_a_reference_nothing_is_scored():
    score = await TextScorer().score(task(), "Ann")

    assert (score.value, score.reason) == (None, "no_reference")


@given(st.text(max_size=40), st.text(max_size=40))
def test_f1_is_symmetric_within_bounds_and_one_for_itself(first, second):
    assert 0 <= f1(first, second) == f1(second, first) <= 1
    assert not normalised(first) or f1(first, first) == 1


@given(st.text(max_size=40))
def test_normalising_twice_changes_nothing_more(text):
    once = normalised(text)
    assert normalised(once) == once or not once.strip()
