"""Multiple choice: letters in any decoration, and everything that is no choice."""

import pytest

from mas_orchestra.score.choice import ChoiceScorer
from mas_orchestra.tasks.task import Task

OPTIONS = ["Rome", "Paris", "Oslo", "Bonn"]


def task(*answers, choices=OPTIONS):
    metadata = {"choices": choices} if choices else {}
    return Task(id="t", question="Where is it?", answers=answers or ("B",), kind="choice", metadata=metadata)


async def read(answer, *gold, choices=OPTIONS):
    return await ChoiceScorer().score(task(*gold, choices=choices), answer)


@pytest.mark.parametrize(
    "answer",
    [
        "B",
        "b",
        "(b)",
        "B.",
        "B: Paris",
        "**B)** Paris",
        "Option B",
        r"\text{B}",
        r"\boxed{\text{(B)}}",
        "$\\boxed{B}$",
        "Ｂ",
        "Ⓑ",
        "В",
        '"B"',
        "<answer>B</answer>",
        "B is correct",
        "I choose B",
        "It is B.",
        "Therefore, B.",
        "Paris",
        "the answer is Paris",
        "The correct answer is (B) Paris.",
        "**Answer:** B",
        "Answer: B) Paris because it is.",
        "My answer is option B, since Oslo is cold.",
        "A) is too warm.\nC) is too cold.\n\nB",
        "Answer: A\nNo, wait.\nAnswer: B",
        "\\boxed{A} at first, and then \\boxed{B}",
    ],
)
async def test_a_letter_is_read_in_any_decoration(answer):
    score = await read(answer)

    assert (score.value, score.reason, score.details["read"]) == (1.0, "right", "B")


async def test_a_box_with_mathematics_does_not_hide_the_last_line():
    text = "We find \\boxed{\\langle H\\rangle \\ll \\Delta E} as expected. \nAnswer: D"

    assert (await read(text, "D", choices=None)).value == 1.0
    assert (await read(text, "E", choices=None)).value == 0.0
    assert (await read(text.replace("\n", " "), "D")).details["read_by"] == "answer_line"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("A, B, C, D", "several_choices"),
        ("A B C D", "several_choices"),
        ("A) Rome, B) Paris, C) Oslo, D) Bonn", "several_choices"),
        ("A) Rome\nB) Paris\nC) Oslo\nD) Bonn", "several_choices"),
        ("The answer is B or C", "several_choices"),
        ("A) Paris", "several_choices"),
        ("Where is it?", "echo"),
        ("E", "no_choice"),
        ("a vitamin", "no_choice"),
        ("neither A nor B", "no_choice"),
        ("The letter B occurs in the alphabet, after all.", "no_choice"),
        ("Answer: none of the above", "no_choice"),
        ("correct", "no_choice"),
        ("A" * 5000, "no_choice"),
        ("C", "wrong"),
    ],
)
async def test_what_is_not_one_right_choice_is_refused(answer, reason):
    score = await read(answer)

    assert (score.value, score.reason) == (0.0, reason)


@pytest.mark.parametrize("answer", ["A, C", "C and A", "(A) and (C)", "A and also C", "AC".replace("A", "A; ")])
async def test_several_letters_can_be_right(answer):
    assert (await read(answer, "A, C")).value == 1.0
    assert (await read(answer, "A")).value == 0.0
    assert (await read("A", "A, C")).value == 0.0


async def test_each_answer_of_the_task_is_an_alternative():
    assert [(await read(letter, "A", "C")).value for letter in "ABC"] == [1.0, 0.0, 1.0]


@pytest.mark.parametrize(("answers", "reason"), [((), "no_reference"), (("the third",), "bad_reference")])
async def test_a_task_without_letters_is_not_scored(answers, reason):
    bare = Task(id="t", question="q", answers=answers, kind="choice")
    score = await ChoiceScorer().score(bare, "A")

    assert (score.value, score.reason) == (None, reason)
