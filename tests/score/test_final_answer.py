"""Where in a reply the answer stands."""

import pytest

from mas_orchestra.score.final_answer import ReadBy, boxes, final_answer, repeats


@pytest.mark.parametrize(
    ("reply", "text", "read_by"),
    [
        ("42", "42", ReadBy.WHOLE),
        ("  a long\ntext ", "a long\ntext", ReadBy.WHOLE),
        (r"\boxed{1} \boxed{2}", "2", ReadBy.LAST_BOX),
        (r"\boxed{1} \boxed{", "1", ReadBy.LAST_BOX),
        (r"\boxed{1} \boxed{}", "1", ReadBy.LAST_BOX),
        (r"\fbox{9} \fboxed{1}", "1", ReadBy.LAST_BOX),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}", ReadBy.LAST_BOX),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}", ReadBy.LAST_BOX),
        ("Answer: 7", "7", ReadBy.ANSWER_LINE),
        ("**Final answer:** 7\nBye.", "7", ReadBy.ANSWER_LINE),
        ("## Answer\n7 of them", "7 of them", ReadBy.ANSWER_LINE),
        ("**Answer**\n\n7", "7", ReadBy.ANSWER_LINE),
        ("My answer\n7", "My answer\n7", ReadBy.WHOLE),
        ("The answer is:\n\n7", "7", ReadBy.ANSWER_LINE),
        ("答え Answer：7", "7", ReadBy.ANSWER_LINE),
        ("Answer: 6\nAnswer: 7", "7", ReadBy.ANSWER_LINE),
        ("Answer: 7\nAnswer:", "7", ReadBy.ANSWER_LINE),
        (r"\boxed{6}. Answer: 7", "7", ReadBy.ANSWER_LINE),
        (r"Answer: 6, no: \boxed{7}", "7", ReadBy.LAST_BOX),
        (r"Answer: \boxed{7}", "7", ReadBy.LAST_BOX),
        ("Unanswered: 7", "Unanswered: 7", ReadBy.WHOLE),
    ],
)
def test_of_two_statements_the_later_one_counts(reply, text, read_by):
    found = final_answer(reply)

    assert (found.text, found.read_by) == (text, read_by)


@pytest.mark.parametrize(
    "piece", ["\\boxed{", "answer: ", "}", "{\\boxed{x}", "Answer is\n", "\\boxed{\\boxed{", "*", "\n"]
)
def test_a_hostile_megabyte_is_read(piece):
    assert isinstance(final_answer(piece * (1_000_000 // len(piece))).text, str)


def test_an_inner_box_stands_for_the_outer_one():
    assert [box.text for box in boxes(r"\boxed{a \boxed{b} c} \boxed{d}")] == ["b", "d"]


@pytest.mark.parametrize(("reply", "is_same"), [("What  is IT?\n", True), ("What is it? 7", False), ("", False)])
def test_a_reply_that_repeats_the_question(reply, is_same):
    assert repeats(reply, "What is it?") is is_same
