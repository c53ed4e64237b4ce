"""Axes and sizes are measured from the text, faults are found in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.masbench.analyze import analysis_document, analyze_text
from mas_orchestra.masbench.sentences import UnreadableTextError
from masbench.published import WHOLE, example
from masbench.random_texts import random_text


@given(seed=st.integers(0, 10**9), asked=st.integers(1, 4), quantities=st.integers(6, 12))
def test_random_texts_measure_as_brute_force_has_them(seed, asked, quantities):
    made = random_text(seed, asked=asked, quantities=quantities)

    measured = analyze_text(made.text).measured

    assert measured.depth == made.depth()
    assert measured.breadth == made.breadth()
    assert measured.needed == len(made.needed())
    assert measured.parallel == made.components()
    assert measured.text_depth == max(len(chain) for key in made.equations for chain in made.chains(key))
    assert measured.text_breadth == max(len(set(equation[3])) for equation in made.equations.values())
    assert (measured.cycles, measured.undefined) == ((), ())


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (1, (5, 4, 2, 4, 10)),  # the paper's depth 4
        (3, (3, 3, 1, 4, 7)),  # the paper's breadth 4: counted over a total that the question does not use
        (6, (2, 2, 1, 2, 5)),
        (7, (11, 8, 2, 2, 7)),
        (8, (1, 1, 0, 4, 12)),
        (9, (3, 3, 2, 4, 16)),
        (10, (5, 4, 2, 2, 12)),
    ],
)
def test_published_examples(number, sizes):
    analysis = analyze_text(example(number).question)
    measured = analysis.measured
    statements = len(analysis.passage.statements)

    assert (measured.needed, measured.depth, measured.breadth, measured.text_breadth, statements) == sizes


def test_the_published_values_of_the_other_axes():
    assert analyze_text(example(2).question).measured.horizon == 4
    assert analyze_text(example(4).question).problems == 4
    assert analyze_text(example(4).question).measured.parallel == 1  # problem 4 is a total of the other problems' facts
    assert analyze_text(example(5).question).robustness == 3  # four sub-tasks, three notes


def test_what_believing_the_notes_gives():
    poison = analyze_text(example(5).question).poison

    assert poison.targets == (0, 1, 2)
    assert poison.values == (8, 2719583, 37)
    assert poison.joint == (8, 2719583, 14, 4226067)  # 37 is 14 modulo 23


def test_a_believed_claim_reaches_the_final_answer_of_its_component():
    text = (
        "The number of each A's B equals 4. The number of each A's C equals 3 times as much as each A's B. "
        "The number of each D's E equals 6. Note: the number of B that A has is 5. "
        "Note: the number of E that D has is 6.\n"
        "Problem 1: How many B does A have?\nProblem 2: How many C does A have?\nProblem 3: How many E does D have?"
    )

    analysis = analyze_text(text)

    assert analysis.poison.targets == (0,)  # the note on D's E is true
    assert analysis.poison.finals == (15,)
    assert analysis.poison.joint == (5, 15, 6)
    assert (analysis.measured.parallel, analysis.measured.horizon) == (2, 2)


def test_operations_and_equalities():
    text = (
        "The number of each A's B equals 4. The number of each A's C equals each A's B. "
        "The number of each A's D equals 3 more than the sum of each A's B, each A's C and each A's B. "
        "The number of each A's E equals 2 times as much as the difference of each A's D and each A's "
        "C. How many E does A have?"
    )

    measured = analyze_text(text).measured

    assert (measured.operations, measured.equalities) == (2 + 1 + 1 + 1, 1)
    assert measured.breadth == 2  # a quantity that a sum reads twice is one quantity


def test_a_text_without_an_answer_is_analysed_all_the_same():
    text = (
        "The number of each A's B equals each A's C. The number of each A's C equals each A's B. "
        "The number of each D's E equals 1. The number of each D's E equals 2. "
        "The number of each D's F equals each D's G. "
        "How many B does A have?"
    )

    analysis = analyze_text(text)

    assert analysis.solution is None
    assert "needs itself" in analysis.fault
    assert (analysis.measured.depth, analysis.measured.text_depth) == (None, None)
    assert [set(cycle) for cycle in analysis.measured.cycles] == [{"A's B", "A's C"}]
    assert tuple(analysis.system.ambiguous) == ("D's E",)
    assert analysis.measured.undefined == ("D's G",)


def test_a_circle_that_no_answer_needs_is_found_and_harms_no_depth():
    text = "The number of each A's B equals 3. The number of each A's C equals each A's C. How many B does A have?"

    analysis = analyze_text(text)

    assert (analysis.solution.answers, analysis.measured.depth, analysis.measured.text_depth) == ((3,), 1, None)
    assert analysis.measured.cycles == (("A's C",),)


def test_more_circles_than_are_listed_hide_none_that_an_answer_needs():
    own = " ".join(f"The number of each A's N{i} equals each A's N{i}." for i in range(30))
    pair = "The number of each C's D equals each C's E. The number of each C's E equals each C's D."

    analysis = analyze_text(f"{own} {pair} How many D does C have?")

    assert (analysis.solution, analysis.measured.depth, analysis.measured.text_depth) == (None, None, None)
    assert len(analysis.measured.cycles) == 20


def test_other_texts_are_refused():
    with pytest.raises(UnreadableTextError, match="line 1"):
        analyze_text("What is the capital of France?")


@pytest.mark.parametrize("published", WHOLE, ids=lambda whole: f"example {whole.number}")
def test_the_document_is_json_and_holds_every_sentence_that_was_not_used(published):
    analysis = analyze_text(published.question)

    document = json.loads(json.dumps(analysis_document(analysis)))

    assert document["answers"] == list(published.answers)
    assert sum(entry["times"] for entry in document["unread"]) == len(analysis.passage.prose)
    assert [claim["value"] for claim in document["claims"]] == [claim.value for claim in analysis.passage.claims]
    assert (document["poison"] is None) == (not document["claims"])
