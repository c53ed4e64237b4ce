"""How a simulated model errs: each number of a profile does what it says, and nothing else happens without it."""

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra import seeds
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.simulate.handed import Assignment, assignment
from mas_orchestra.simulate.text import read
from mas_orchestra.simulate.work import Circumstances, hazard, scale, work_out
from support.simulated import CHAIN, FLAWLESS, SINGLE, problem


def worked(text, asked, *, seed=0, draw=0, tokens=800, brief=False, **changes):
    by = Circumstances(profile=FLAWLESS.model_copy(update=changes), seed=seed, prompt_tokens=tokens, is_brief=brief)
    return work_out(text, asked, by, seeds.rng("test", draw))


def whole(text):
    return assignment(text, "")


def accuracy(question=SINGLE, task="", **options) -> float:
    """Share of 3,000 models, each with another seed, that are right."""
    text = read(question)
    asked = assignment(text, task)
    truth = text.true_values(asked.targets)
    return statistics.mean(
        worked(text, asked, seed=seed, draw=seed, **options).values == truth for seed in range(3_000)
    )


def near(probability: float) -> object:
    """Within four standard errors of 3,000 draws, and chance hits of 1 in 23."""
    return pytest.approx(probability, abs=4 * math.sqrt(probability * (1 - probability) / 3_000) + 1 / 23)


@settings(max_examples=30, deadline=None)
@given(
    axis=st.sampled_from([Axis.DEPTH, Axis.BREADTH, Axis.PARALLEL, Axis.HORIZON, Axis.ROBUSTNESS]),
    value=st.integers(2, 8),
    index=st.integers(0, 200),
    seed=st.integers(0, 5),
)
def test_without_flaws_every_answer_is_right(axis, value, index, seed):
    row = problem(axis, value, index)
    text = read(row.question)
    found = worked(text, whole(text), seed=seed)

    assert tuple(found.values.values()) == row.answers
    assert not found.is_cut
    assert len(found.steps) == len(text.route(text.names, ()).lines)


def test_each_line_has_its_hazard():
    assert accuracy(lookup=0.1) == near(math.exp(-0.3))  # three lines
    assert accuracy(operation=0.2) == near(math.exp(-0.4))  # two of them with an operation


def test_hazard_grows_along_a_chain_and_with_operations():
    lines = read(SINGLE).route(read(SINGLE).names, ()).lines
    profile = FLAWLESS.model_copy(update={"lookup": 0.01, "chaining": 2, "operation": 0.1, "combining": 3})

    assert [hazard(line, profile) for line in lines] == pytest.approx([0.01, 0.04 + 0.1, 0.09 + 0.1])


def test_hazard_grows_with_the_prompt_and_with_the_answers_due():
    profile = FLAWLESS.model_copy(update={"context": 2.0, "crowding": 0.5, "linked": 0.1})
    text = read(CHAIN)

    assert scale(text.kind, 1, 800, profile) == pytest.approx(0.1)
    assert scale(text.kind, 1, 1600, profile) == pytest.approx(0.4)
    assert scale(text.kind, 3, 800, profile) == pytest.approx(0.2)
    assert accuracy(lookup=0.1, context=1.0, tokens=1600) == near(math.exp(-0.6))


def test_uneven_texts_err_together_and_are_right_as_often_as_the_formula_says():
    assert accuracy(lookup=0.3, unevenness=2.0) == near((1 + 2.0 * 0.9) ** (-1 / 2.0))


def test_a_misread_text_is_misread_every_time():
    text = read(SINGLE)
    answers = {
        seed: {
            tuple(worked(text, whole(text), seed=seed, draw=draw, misreading=0.5).values.values()) for draw in range(9)
        }
        for seed in range(60)
    }

    assert all(len(found) == 1 for found in answers.values())
    wrong = sum(found != {(14,)} for found in answers.values())
    assert 15 <= wrong <= 45


def test_systematic_errors_are_the_same_in_every_sample_and_no_more_frequent():
    assert accuracy(lookup=0.2, systematic=1.0) == near(math.exp(-0.6))
    text = read(SINGLE)
    for seed in range(20):
        found = {
            tuple(worked(text, whole(text), seed=seed, draw=draw, lookup=0.5, systematic=1.0).values.values())
            for draw in range(9)
        }
        assert len(found) == 1


def test_errors_of_one_sample_are_not_those_of_another():
    text = read(SINGLE)
    found = {tuple(worked(text, whole(text), draw=draw, lookup=0.5).values.values()) for draw in range(50)}

    assert len(found) > 5


def test_an_error_travels_on_to_what_is_computed_from_it():
    text = read(CHAIN)
    for draw in range(50):
        found = worked(text, whole(text), draw=draw, lookup=0.3)
        stacks = found.values["Red Barn's Hay Stack"]
        assert f"Hay Stack's Straw = 2 * {stacks} = " in found.steps[-1]


def test_beyond_the_room_for_operations_a_reply_is_cut():
    text = read(SINGLE)  # work of 3

    assert not worked(text, whole(text), operation_budget=3).is_cut
    cut = worked(text, whole(text), operation_budget=2)
    assert (cut.is_cut, len(cut.steps)) == (True, 2)
    assert not worked(text, whole(text), operation_budget=2, brief=True).is_cut
    assert not worked(text, assignment(text, "Red Barn's Hay Stack = 7."), operation_budget=2).is_cut


def test_the_room_varies_by_its_spread():
    text = read(SINGLE)
    cut = [worked(text, whole(text), draw=draw, operation_budget=3, budget_spread=0.3).is_cut for draw in range(400)]

    assert 0.4 < statistics.mean(cut) < 0.6


def test_being_brief_costs_accuracy():
    assert accuracy(lookup=0.05, unwritten=6, brief=True) == near(math.exp(-0.9))
    text = read(SINGLE)
    assert worked(text, whole(text), brief=True).steps == ()


def test_an_unverified_value_is_believed_as_often_as_it_says_and_more_often_with_more_to_do():
    noted = CHAIN.replace("\n\nProblem 1", " Note: the number of Hay Stack that Red Barn has is 9.\n\nProblem 1")

    assert accuracy(noted, "Solve Problem 2.", belief=0.3) == near(0.7)
    assert accuracy(noted, belief=0.3) == near(0.7**2)
    assert accuracy(noted, "Problem 1: 7. Solve Problem 2.", belief=1.0) == 1.0
    text = read(noted)
    assert tuple(worked(text, whole(text), belief=1.0).values.values()) == (9, 18)


def test_handed_values_are_used_right_or_wrong():
    text = read(CHAIN)
    found = worked(text, assignment(text, "Problem 1: 8. Solve Problem 2."), lookup=0)

    assert dict(found.values) == {"Hay Stack's Straw": 16}
    assert found.steps == ("Hay Stack's Straw = 2 * 8 = 16",)


def test_a_handed_value_is_sometimes_copied_wrongly():
    assert accuracy(CHAIN, "Problem 1: 7. Problem 2: 14.", copy_error=0.2) == near(0.8**2)


def test_copying_alone_costs_no_errors_of_working_out():
    text = read(CHAIN)
    asked = assignment(text, "Problem 1: 7. Problem 2: 14.")

    assert worked(text, asked, lookup=10, misreading=1.0).values == text.true_values(text.names)


def test_a_magic_number_is_looked_up():
    text = read(
        f"{CHAIN.partition('Problem 1')[0]}One of the special magic numbers for open-anvil is: 1234567.\n"
        "Problem 1: What is the magic number for open-anvil?\nProblem 2: How many Straw does Hay Stack have?"
    )

    assert tuple(worked(text, whole(text)).values.values()) == (1234567, 14)


def test_nothing_but_seed_text_and_draw_decides():
    text = read(SINGLE)
    flaws = {"lookup": 0.4, "unevenness": 1.0, "systematic": 0.5, "budget_spread": 0.2}

    assert worked(text, whole(text), draw=3, **flaws) == worked(text, whole(text), draw=3, **flaws)
    assert Assignment(targets=text.names, is_whole=True) == whole(text)
