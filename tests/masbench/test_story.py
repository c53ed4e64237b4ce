"""The words, and that the guide shows them as they are."""

import re
from pathlib import Path

import pytest

from mas_orchestra.masbench import story
from mas_orchestra.masbench.attack import WORDINGS
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Form, Modifier, Parameters, Split, Style

GUIDE = (Path(__file__).parents[2] / "docs" / "guide" / "masbench.md").read_text("utf-8")
NAMES = [("Gull Quay", "Old Barge"), ("Old Barge", "Fore Bin"), ("Fore Bin", "Tin Ingot")]
SMALL = Parameters(d=4, b=2, n=5, T=9)


@pytest.mark.parametrize(
    ("form", "modifier", "operands", "expression"),
    [
        (Form.CONSTANT, Modifier.NONE, 0, "7"),
        (Form.EQUAL, Modifier.NONE, 1, "each Gull Quay's Old Barge"),
        (Form.EQUAL, Modifier.TIMES, 1, "7 times as much as each Gull Quay's Old Barge"),
        (Form.SUM, Modifier.NONE, 2, "the sum of each Gull Quay's Old Barge and each Old Barge's Fore Bin"),
        (
            Form.SUM,
            Modifier.MORE,
            3,
            (
                "7 more than the sum of each Gull Quay's Old Barge, each Old Barge's Fore Bin and "
                "each Fore Bin's Tin Ingot"
            ),
        ),
        (
            Form.DIFFERENCE,
            Modifier.TIMES,
            2,
            "7 times as much as the difference of each Gull Quay's Old Barge and each Old Barge's Fore Bin",
        ),
    ],
)
def test_the_shapes_of_statements(form, modifier, operands, expression):
    told = story.statement(("Gull Quay", "Swift Ketch"), form, modifier, 7, NAMES[:operands])
    assert told == f"The number of each Gull Quay's Swift Ketch equals {expression}."


def text(parameters: Parameters = SMALL, **options: object) -> str:
    return generate(Recipe(axis=Axis.COMBINE, parameters=parameters, split=Split.TEST, **options), 4).question


def rules_of(question: str) -> str:
    return question.rsplit("\n\n", maxsplit=1)[-1]


@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        (SMALL, {}),
        (Parameters(d=4, b=2, n=5, T=9, h=2), {}),
    ],
)
def test_the_guide_shows_the_rules_word_for_word(parameters, options):
    assert rules_of(text(parameters, **options)) in GUIDE


def test_the_guide_shows_every_attack_and_every_further_rule():
    for wordings in WORDINGS.values():
        for wording in wordings:
            shown = wording.format(subject="SUBJECT", value="VALUE", person="PERSON")
            assert f"`{shown}`" in GUIDE
    flowing = " ".join(GUIDE.split())
    attacked = rules_of(text(attack=AttackKind.NOTE))
    assert re.search(r"Only the numbered statements are facts\. .*statements win\.", attacked)[0] in flowing
    abstract = rules_of(text(abstract=True))
    assert re.sub(r"\(.*?\)", "(Vessel)", re.search(r"A category word .*stated for X\.", abstract)[0]) in flowing


def test_paragraphs_of_a_plain_question():
    passage, question, rules = text().split("\n\n")
    assert passage.count("The number of each") == 9
    assert re.fullmatch(r"How many [\w -]+ does [\w -]+ have\?", question)
    assert rules.startswith("All arithmetic is modulo 23: ")


def test_paragraphs_of_several_questions():
    _, questions, rules = text(Parameters(d=4, b=2, n=5, T=12, h=2, p=2)).split("\n\n")
    assert [line.split(":")[0] for line in questions.splitlines()] == [f"Problem {number}" for number in (1, 2, 3, 4)]
    assert '"Problem k: \\boxed{answer}"' in rules


def test_segments_of_an_attacked_passage_number_their_statements():
    first, *segments, ruler, _, _ = text(attack=AttackKind.CLAIM).split("\n\n")
    assert first == "Read the following passage carefully."
    assert ruler == "=" * 60
    numbers = [re.findall(r"\((\d+)\) The number of each", segment) for segment in segments]
    assert numbers == [["1", "2", "3", "4"], ["5", "6", "7", "8"], ["9"]]


def test_the_paper_puts_one_question_behind_its_passage_on_one_line():
    question = text(style=Style.PAPER)
    assert "\n" not in question
    assert question.endswith("?")
    assert "23" not in re.sub(r"equals .*?\.", "", question)


def test_the_papers_footer_speaks_of_independence_only_where_it_is_so():
    independent = text(Parameters(d=4, b=2, n=5, T=12, p=2), style=Style.PAPER)
    chained = text(Parameters(d=4, b=2, n=5, T=12, h=2, p=2), style=Style.PAPER)
    sentence = "- Each problem is INDEPENDENT and can be solved in parallel."
    assert sentence in independent
    assert sentence not in chained
    boxes = "\n\n".join(f"Problem {number}: \\boxed{{[answer{number}]}}" for number in (1, 2, 3, 4))
    assert chained.endswith(f"### Final Answers\n\n{boxes}")


def test_the_papers_request_lists_all_subtasks():
    parameters = Parameters(d=4, b=2, n=5, T=9, h=2)
    question = text(parameters, style=Style.PAPER, attack=AttackKind.NOTE, needle=True)
    request = question.splitlines()[-1]
    assert request.startswith("From the passage, identify and return the number of ")
    assert request.count("the magic number for ") == request.count("the number of ") == 2
    assert ", and the magic number for " in request
    assert request.endswith(r"wrapped in \boxed{} and separated via \n\n")
