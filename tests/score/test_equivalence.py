"""Votes over mathematics: an equivalence, whatever the order of the answers."""

import random

import pytest

from mas_orchestra.agents.vote import vote
from mas_orchestra.score.equivalence import MathematicsGrouping
from mas_orchestra.score.math_workers import MathWorkers


@pytest.fixture(scope="module")
def workers():
    workers = MathWorkers(time_limit_s=30)
    yield workers
    workers.close()


@pytest.fixture
def group(workers):
    return MathematicsGrouping(workers)


async def test_labels_are_numbered_by_first_appearance(group):
    answers = ["1/3", "x<3", r"\frac{2}{6}", r"(-\infty,3)", "3>x", "0.5", r"\sqrt{4}", "2", "60%", "0.6", "60"]

    assert list(await group(answers)) == [0, 1, 0, 1, 1, 2, 3, 3, 4, 4, 5]


@pytest.mark.parametrize("seed", range(5))
async def test_the_order_of_the_answers_does_not_matter(group, seed):
    answers = ["x<3", r"(-\infty,3)", "3", "x=3", r"\{1,2\}", "2, 1", "(0,1)", "0<y<1", "12 cm", "12 m", "A", "a"]
    order = list(range(len(answers)))
    random.Random(seed).shuffle(order)
    labels = list(await group(answers))
    shuffled = list(await group([answers[place] for place in order]))
    together = [[labels[one] == labels[other] for other in order] for one in order]

    assert [[one == other for other in shuffled] for one in shuffled] == together


async def test_majority_keeps_an_answer_that_is_an_article(group):
    labels = await group(["A", "A", "A", "B"])
    decided = vote(labels)

    assert (decided.winner, decided.tallies[0].count, decided.is_tie) == (0, 3, False)


async def test_units_marks_and_brackets_keep_answers_apart(group):
    for pair in (["12 cm", "12 m"], ["12 cm", "12"], ["16.181", "16181"], ["(0,1)", "[0,1]"], ["5 €", "$5"]):
        assert list(await group(pair)) == [0, 1]


async def test_several_boxes_are_a_list(group):
    labels = await group([r"\boxed{3} \boxed{4}", r"a \boxed{3.0}, b \boxed{4}", r"\boxed{4}", r"\boxed{4} \boxed{3}"])

    assert list(labels) == [0, 0, 1, 2]


@pytest.mark.slow
async def test_an_answer_that_never_ends_holds_up_a_vote_twice_and_no_more():
    workers = MathWorkers(time_limit_s=2)
    labels = await MathematicsGrouping(workers)(["9^{9^{9^{9}}}", "x+1", "1+x", "x+2", "x+3"])
    workers.close()

    assert list(labels) == [0, 1, 1, 2, 3]
    assert workers.kills == 2


async def test_no_answers_and_empty_ones(group):
    assert list(await group([])) == []
    assert list(await group(["", " ", "7", "no idea at all\nreally"])) == [0, 0, 1, 2]


async def test_numbers_and_letters_start_no_process():
    idle = MathWorkers()

    assert list(await MathematicsGrouping(idle)(["7", "7.0", "14/2", "8"])) == [0, 0, 0, 1]
    assert not idle.processes
