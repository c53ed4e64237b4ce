"""Reading replies that are mostly, but not always, in the form asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents.boxed import boxed
from mas_orchestra.agents.reply import Reply, read_fields, read_reply, without_reasoning

READABLE = {
    "object": ('{"thinking": "6*7", "answer": "42"}', "6*7"),
    "object in a fence": ('```json\n{"thinking": "6*7", "answer": "42"}\n```', "6*7"),
    "object after prose": ('Sure! Here you are:\n{"thinking": "6*7", "answer": "42"}', "6*7"),
    "number instead of text": ('{"thinking": "6*7", "answer": 42}', "6*7"),
    "other case of the keys": ('{"Thinking": "6*7", "Answer": "42"}', "6*7"),
    "no closing brace": ('{"thinking": "6*7", "answer": "42"', "6*7"),
    "last of two objects": ('{"thinking": "no", "answer": "41"} wait {"thinking": "6*7", "answer": "42"}', "6*7"),
    "raw line break in a string": ('{"thinking": "6*7\n= 42", "answer": "42"}', "6*7\n= 42"),
    "single backslashes": (r'{"thinking": "\( 6 \cdot 7 \)", "answer": "42"}', r"\( 6 \cdot 7 \)"),
    "tags": ("<thinking>6*7</thinking>\n<answer>42</answer>", "6*7"),
    "tags in capitals": ("<THINKING>6*7</THINKING><Answer>42</Answer>", "6*7"),
    "unclosed answer": ("<thinking>6*7</thinking><answer>42", "6*7"),
    "unclosed thinking": ("<thinking>6*7<answer>42</answer>", "6*7"),
    "only a closing tag": ("<thinking>6*7</thinking>42</answer>", "6*7"),
    "answer without tag": ("<thinking>6*7</thinking>\n42", "6*7"),
    "tag named in the thinking": ("<thinking>put it in <answer> tags</thinking><answer>42</answer>", None),
    "object in a tag's text": ('<thinking>not {"answer": "41"}</thinking><answer>42</answer>', None),
    "tags in an object's text": ('{"thinking": "<answer>41</answer>", "answer": "42"}', None),
    "line": ("6*7\nAnswer: 42", "6*7"),
    "bold line": ("6*7\n\n**Final answer:** 42\n", "6*7"),
    "line and the value below": ("6*7\nAnswer:\n42", "6*7"),
    "sentence at the end": ("6*7\nSo the final answer is 42", "6*7"),
    "box": (r"6*7 = \boxed{42}", r"6*7 = \boxed{42}"),
    "the same box twice": (r"\boxed{42} and again \boxed{42}", None),
    "one line": ("42", ""),
    "left-over reasoning block": ("<think>first 41</think>\n<answer>42</answer>", ""),
    "only the end of a reasoning block": ("first 41</think> <answer>42</answer>", ""),
}


@pytest.mark.parametrize("form", READABLE)
def test_an_answer_is_found_in_every_usual_form(form):
    text, thinking = READABLE[form]

    reply = read_reply(text)

    assert reply is not None
    assert reply.answer == "42"
    if thinking is not None:
        assert reply.thinking == thinking


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n ",
        '{"thinking": "no answer"}',
        '{"thinking": "null", "answer": null}',
        '{"thinking": "empty", "answer": "  "}',
        '{"thinking": "x", "answer": "4',
        '{"thinking": "…", "answer": "…"}',
        "<thinking>x</thinking><answer>...</answer>",
        "<thinking>only that</thinking>",
        "<answer></answer>",
        "<thinking>never ends",
        "<think>never ends, 42",
        "Several lines\nwithout any form",
        r"Either \boxed{1} or \boxed{2}, who knows",
        "One line of text that rambles on. " * 50,
        '{"answer": ' + "[" * 50_000,
        '{"answer": ' + "9" * 5_000 + "}",
    ],
)
def test_what_holds_no_answer_gives_none(text):
    assert read_reply(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<thinking>x</thinking><answer>42</answer> and then", "42"),
        ('{"thinking": "x", "answer": "42"} and', "42"),
        ("<thinking>x</thinking><answer>4", None),
        ('{"thinking": "x", "answer": "4', None),
        ('{"thinking": "x", "answer": "42"', None),
        ("x\nAnswer: 4", None),
        ("first \\boxed{4} and then", None),
        ("The value must be 4", None),
    ],
)
def test_of_a_reply_that_was_cut_off_only_a_closed_answer_counts(text, answer):
    reply = read_reply(text, cut_off=True)

    assert (reply.answer if reply else None) == answer


def test_an_answer_on_the_last_line_wins_over_a_box_before_it():
    reply = read_reply("Thus \\boxed{\\langle H\\rangle \\ll \\Delta E}.\nAnswer: D")

    assert reply is not None
    assert reply.answer == "D"


def test_boxes_after_an_answer_line_belong_to_it():
    reply = read_reply("### Final Answers\nAnswer: Problem 1: \\boxed{3}\nProblem 2: \\boxed{4}")

    assert reply is not None
    assert reply.answer == "Problem 1: \\boxed{3}\nProblem 2: \\boxed{4}"


def test_a_sentence_about_the_answer_in_the_middle_is_not_the_answer():
    assert read_reply("The answer is not obvious.\nLet us see.\nI give up") is None


def test_latex_whose_backslashes_were_not_doubled_survives():
    reply = read_reply(r'{"thinking": "", "answer": "\frac{1}{2} \times \text{cm} \boxed{3}"}')

    assert reply is not None
    assert reply.answer == r"\frac{1}{2} \times \text{cm} \boxed{3}"


def test_prose_is_an_answer_only_where_it_was_asked_for():
    text = "First line.\nSecond line."

    assert read_reply(text) is None
    assert read_reply(text, prose=True) == Reply(answer=text)
    assert read_reply('{"thinking": "x"}', prose=True) is None


def test_a_list_stays_a_list():
    reply = read_reply('{"answer": ["Zürich", 2]}')

    assert reply is not None
    assert reply.answer == '["Zürich", 2]'


@given(st.text(), st.text().filter(str.strip))
def test_a_well_formed_object_is_read_as_it_was_written(thinking, answer):
    text = json.dumps({"thinking": thinking, "answer": answer})
    plain = not any(sign in thinking + answer for sign in "\f\b\t\r") and "</think>" not in text

    reply = read_reply(text)

    if plain:
        assert reply == Reply(answer=answer.strip(), thinking=thinking.strip())


@given(st.text(alphabet='<>/{}[]"\\answerthinkg:* \n_', max_size=300), st.booleans(), st.booleans())
def test_no_text_makes_reading_fail_or_gives_an_empty_answer(text, cut_off, prose):
    reply = read_reply(text, cut_off=cut_off, prose=prose)

    assert reply is None or reply.answer.strip()


@pytest.mark.parametrize(
    "piece",
    [
        "<answer ",
        "<answer>",
        "</answer>",
        "{ ",
        '{"a',
        "\\boxed{",
        "so the ",
        "* _",
        "answer is ",
        "<thinking>",
        "{{",
        "\\",
    ],
)
@pytest.mark.timeout(20)
def test_a_long_hostile_text_is_read_in_linear_time(piece):
    # 400,000 characters: milliseconds in linear time, hours in quadratic time.
    assert read_reply(piece * (400_000 // len(piece)), cut_off=True) is None


def test_fields_of_any_name_can_be_read():
    assert read_fields("feedback first\nCorrect: true", "correct", others=("feedback",)) == {
        "correct": "true",
        "feedback": "feedback first",
    }


@pytest.mark.parametrize(
    ("text", "rest"),
    [("plain", "plain"), ("<think>a</think>b", "b"), ("a</think>b", "b"), ("<think>a", ""), ("<think>a</think>", "")],
)
def test_left_over_reasoning_is_dropped(text, rest):
    assert without_reasoning(text) == rest


def test_escaped_braces_do_not_close_a_box():
    assert boxed(r"\boxed{\{1, 2\}} \fboxed{x} \boxed {y}") == (r"\{1, 2\}", "x", "y")
