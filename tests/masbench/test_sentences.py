"""Texts are cut into sentences in linear time, whatever stands in the names."""

import pytest

from mas_orchestra.masbench.sentences import sentences


def cut(text):
    return [sentence.text for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("There and back again.One of them.", ["There and back again.", "One of them."]),
        ("It is 3.5 m. Done.", ["It is 3.5 m.", "Done."]),
        ("each St. Louis Zoo's Cage equals 3. Next.", ["each St. Louis Zoo's Cage equals 3.", "Next."]),
        ("Dr. Hale says so. Next.", ["Dr. Hale says so.", "Next."]),
        ("each Park of J. Smith's Cage. Next.", ["each Park of J. Smith's Cage.", "Next."]),
        ("each Hand's Metacarpal I. Note: no.", ["each Hand's Metacarpal I.", "Note: no."]),
        ("each Zoo in Washington D.C. The number of each X", ["each Zoo in Washington D.C.", "The number of each X"]),
        ("A  \t b\u00a0c.", ["A b c."]),
        ("Marc’s shop.", ["Marc's shop."]),
        ("====\n\n----\nA.", ["A."]),
        ("", []),
    ],
)
def test_ends(text, expected):
    assert cut(text) == expected


@pytest.mark.parametrize("mark", ["- ", "* ", "• ", "1. ", "12) ", "(3) ", "[4] ", "[S5] ", "Statement 6: ", "Q7: "])
def test_the_mark_of_a_list_is_no_part_of_the_sentence(mark):
    assert cut(f"{mark}The number of each A's B equals 3.") == ["The number of each A's B equals 3."]
    assert cut(f"One. {mark}The number of each A's B equals 3.")[1:] == ["The number of each A's B equals 3."]


def test_a_name_that_begins_with_a_number_keeps_it():
    assert cut("99 Ranch Market's Tea is hot.") == ["99 Ranch Market's Tea is hot."]


def test_a_header_stands_alone():
    assert cut("Problem 1: What? Problem 2: Why?") == ["Problem 1:", "What?", "Problem 2:", "Why?"]


def test_a_line_break_inside_a_statement_or_question_means_nothing():
    text = "The number of each A's\nB equals\n3. How many B\r\ndoes A have?\n"

    assert cut(text) == ["The number of each A's B equals 3.", "How many B does A have?"]


def test_a_line_break_ends_everything_else():
    assert cut("### Final Answers\nProblem 1: x\nsome words\nmore") == [
        "### Final Answers",
        "Problem 1:",
        "x",
        "some words",
        "more",
    ]


@pytest.mark.parametrize("second", ["The number of each C's D equals 4.", "- a list", "Problem 2: x", "Note: x.", ""])
def test_an_open_statement_does_not_swallow_what_begins_anew(second):
    assert cut(f"The number of each A's B equals 3\n{second}\nrest")[0] == "The number of each A's B equals 3"


def test_lines_are_counted_where_a_sentence_starts():
    found = list(sentences("First.\n\nThe number of each A's B\nequals 3. Third.\nFourth."))

    assert [(sentence.line, sentence.text[:5]) for sentence in found] == [
        (1, "First"),
        (3, "The n"),
        (4, "Third"),
        (5, "Fourt"),
    ]


@pytest.mark.parametrize(
    "evil",
    [". " * 40_000, "." * 80_000, "A." * 40_000, "The number of \n" * 20_000, " " * 80_000 + ".", "1. " * 30_000],
)
def test_hostile_texts_are_read_in_one_pass(evil):
    assert sum(len(sentence.text) for sentence in sentences(evil)) <= len(evil)
