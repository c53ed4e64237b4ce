"""What a sub-task asks for and hands over, in the words that orchestrators use."""

import pytest

from mas_orchestra.simulate.handed import assignment, given_answers
from mas_orchestra.simulate.text import read
from support.simulated import CHAIN

BARN, STACK, STRAW = "Fox Farm's Red Barn", "Red Barn's Hay Stack", "Hay Stack's Straw"
TEXT = read(CHAIN)


@pytest.mark.parametrize(
    "task",
    [
        "find the number of Hay Stack that Red Barn has",
        "How many Hay Stack does Red Barn have?",
        "Compute each Red Barn's Hay Stack.",
        "Solve Problem 1.",
        "Only do problem 1, please",
        "Solve sub-task 1 and nothing else",
        "Problem 1: How many Hay Stack does Red Barn have?",
    ],
)
def test_a_sub_task_names_its_target(task):
    assert assignment(TEXT, task).targets == (STACK,)


@pytest.mark.parametrize(
    "task",
    [
        "each Red Barn's Hay Stack equals 7",
        "Red Barn's Hay Stack = 7",
        "Red Barn's Hay Stack is 7",
        "Red Barn's Hay Stack: 7",
        r"Red Barn's Hay Stack equals \boxed{7}",
        r"Red Barn's Hay Stack equals Problem 1: \boxed{7}",
        "each Red Barn's Hay Stack equals Red Barn's Hay Stack = 7",
        "the number of Hay Stack that Red Barn has is 7",
        "How many Hay Stack does Red Barn have? 7",
        r"Problem 1: \boxed{7}",
        r"Problem 1: Problem 1: \boxed{7}",
        "Problem 1 is 7",
        "Problem 1's answer is 7",
        "Problem 1: 7",
        "question 1 = 7",
    ],
)
def test_a_value_is_handed_over_with_its_name(task):
    found = assignment(TEXT, f"Given {task}, solve Problem 2.")

    assert dict(found.handed) == {STACK: 7}
    assert found.targets == (STRAW,)


@pytest.mark.parametrize(
    ("task", "numbers"),
    [
        ("Solve Problem 1 and Problem 2.", (1, 2)),
        ("Solve problems 1 and 2", (1, 2)),
        ("Solve problems 1 to 2", (1, 2)),
        ("Solve Problems 1-2.", (1, 2)),
        ("Solve Problem 2, then Problem 1", (2, 1)),
        ("Solve problem 2 in 3 steps", (2,)),
    ],
)
def test_several_problems_are_named_by_number(task, numbers):
    assert assignment(TEXT, task).targets == tuple(TEXT.by_number[number] for number in numbers)


@pytest.mark.parametrize(
    "task",
    [
        "Combine 7, 14.",
        "Combine 7 and 14",
        r"Answers: \boxed{7}, \boxed{14}",
        r"Problem 1: \boxed{7} Problem 2: \boxed{14}. Put them together.",
        "Red Barn's Hay Stack = 7 and Hay Stack's Straw = 14: answer the question",
    ],
)
def test_what_is_all_given_is_put_together(task):
    found = assignment(TEXT, task)

    assert (found.is_whole, found.targets) == (True, TEXT.names)
    assert dict(found.handed) == {STACK: 7, STRAW: 14}


@pytest.mark.parametrize(
    "task", ["Combine 7, 14 and 3.", "Combine 7.", "Combine the 2 answers 7 and 14", "Say 7.5 and 14.2"]
)
def test_bare_values_that_do_not_fit_are_not_guessed_at(task):
    assert assignment(TEXT, task).handed == ()


def test_a_quantity_that_nobody_asked_for_can_be_a_target_and_be_handed_over():
    assert assignment(TEXT, "How many Red Barn does Fox Farm have?").targets == (BARN,)
    assert assignment(TEXT, "Fox Farm's Red Barn = 4. Solve Problem 1.").handed == ((BARN, 4),)


@pytest.mark.parametrize("task", ["", "Think about the question.", "Answer it.", "Problem 9 is the hardest"])
def test_a_task_that_names_nothing_asks_for_all(task):
    found = assignment(TEXT, task)

    assert (found.is_whole, found.targets, found.handed) == (True, TEXT.names, ())


def test_repeated_statements_are_neither_targets_nor_values():
    statements = CHAIN.partition("\n\n")[0]
    found = assignment(TEXT, f"{statements}\nHow many Straw does Hay Stack have?")

    assert (found.targets, dict(found.handed)) == ((STRAW,), {BARN: 4})
    assert assignment(TEXT, f"{statements} Think well.").is_whole


@pytest.mark.parametrize(("task", "targets"), [(CHAIN, TEXT.names), (f"{CHAIN}\n\nSolve Problem 2 only.", (STRAW,))])
def test_a_sub_task_may_repeat_the_whole_question(task, targets):
    assert assignment(TEXT, task).targets == targets
    assert assignment(TEXT, task).handed == ()


def test_a_check_is_told_from_a_use():
    assert assignment(TEXT, "Verify that Problem 1 is 7 and Problem 2 is 14.").is_check
    assert not assignment(TEXT, "Use that Problem 1 is 7.").is_check
    assert not assignment(TEXT, "Check your work.").is_check


@pytest.mark.parametrize(
    ("reply", "answers"),
    [
        ("Problem 1: \\boxed{7}\nProblem 2: \\boxed{14}", {STACK: 7, STRAW: 14}),
        (r"\boxed{7} \boxed{14}", {STACK: 7, STRAW: 14}),
        ("Problem 2: 14", {STRAW: 14}),
        ("no idea", {}),
    ],
)
def test_answers_of_others_are_read(reply, answers):
    assert given_answers(TEXT, TEXT.names, reply) == answers


@pytest.mark.parametrize(
    "part", ["Red Barn's Hay Stack ", "problem 1, ", "Problem ", "7 ", "\\boxed{", "problem 1: \\boxed{ "]
)
def test_long_sub_tasks_are_read_in_time(part):
    found = assignment(TEXT, part * 20_000)

    assert set(found.targets) <= {BARN, STACK, STRAW}
