"""The published examples, and the page that tabulates them, agree with the solver."""

import re
from pathlib import Path

import pytest

from mas_orchestra.masbench.analyze import analyze_text
from mas_orchestra.masbench.sentences import UnreadableTextError
from mas_orchestra.masbench.solve_text import Reading, UndefinedRule, solve_text
from mas_orchestra.masbench.system import UnsolvableTextError
from masbench.published import WHOLE, example, examples

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "masbench-solver.md"


def integers(text):
    return tuple(map(int, re.findall(r"\d+", text)))


def table(after):
    """Rows of the first table behind this line of the page."""
    lines = PAGE.read_text("utf-8").partition(after)[2].splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("|"))
    end = next(place for place in range(start, len(lines)) if not lines[place].startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start + 2 : end]]


RESULTS = table("## The published examples")
READINGS = table("### Problem sets")


def test_the_page_lists_every_example_in_order():
    assert [int(row[0]) for row in RESULTS] == [published.number for published in examples()]


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: f"example {row[0]}")
def test_the_page_shows_key_and_our_answers(row):
    published = example(int(row[0]))

    assert row[2] == ("published" if published.is_published else "computed")
    assert integers(row[3]) == published.answers
    if row[4] == "refused":
        with pytest.raises(UnreadableTextError):
            solve_text(published.question)
    else:
        assert integers(row[4]) == solve_text(published.question).answers == published.answers


@pytest.mark.parametrize("row", READINGS, ids=lambda row: row[0])
def test_the_page_tells_which_problems_need_the_pooled_reading(row):
    published = example(int(row[0].split(",")[0]))
    pooled = solve_text(published.question, reading=Reading.POOLED).answers
    isolated = solve_text(published.question, reading=Reading.ISOLATED).answers
    same = tuple(number for number, pair in enumerate(zip(pooled, isolated, strict=True), 1) if pair[0] == pair[1])

    assert integers(row[1]) == same
    different = integers(row[2].replace(" and ", ", ").split(":")[0].split("(")[0])
    assert different == tuple(number for number in range(1, len(pooled) + 1) if number not in same)
    shown = re.search(r"\(([\d, ]+) pooled, (?:all )?(\d+) apart", row[2])
    assert integers(shown[1]) == tuple(pooled[number - 1] for number in different)
    assert {isolated[number - 1] for number in different} == set(integers(shown[2]))


@pytest.mark.parametrize("published", WHOLE, ids=lambda whole: f"example {whole.number}")
def test_only_two_examples_rely_on_zero_for_the_undefined(published):
    if published.number in {5, 12}:
        with pytest.raises(UnsolvableTextError, match="never defined"):
            solve_text(published.question, undefined=UndefinedRule.ERROR)
    else:
        assert solve_text(published.question, undefined=UndefinedRule.ERROR).answers == published.answers


@pytest.mark.parametrize("published", WHOLE, ids=lambda whole: f"example {whole.number}")
def test_every_claim_is_poison_and_every_poison_a_claim(published):
    analysis = analyze_text(published.question)

    assert (analysis.poison.values if analysis.poison else ()) == tuple(
        claim.value for claim in analysis.passage.claims
    )


def test_axis_values_as_published():
    depth, horizon, breadth, parallel = (analyze_text(example(number).question) for number in (1, 2, 3, 4))

    assert depth.measured.depth == example(1).value
    assert horizon.measured.horizon == example(2).value
    assert breadth.measured.text_breadth == example(3).value
    assert breadth.measured.breadth == 1
    assert parallel.problems == example(4).value
    assert parallel.measured.parallel == 1
