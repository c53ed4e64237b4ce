import re
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import axes
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Form, Parameters, Problem, Split, Style
from masbench import reader
from masbench.recipes import recipes

INDICES = st.integers(0, 5_000)
SMALL = Parameters(d=5, b=2, n=8, T=24)


def agree(problem: Problem) -> reader.Reading:
    """The text, read by brute force, says what the certificate says."""
    reading = reader.read(problem.question)
    size, measured = problem.parameters, problem.measured
    assert reading.asked == problem.asked
    assert tuple(reading.value(name) for name in problem.asked) == problem.answers
    assert len(problem.asked) == size.p * size.h
    finals = problem.asked[size.h - 1 :: size.h]
    assert {reading.depth(name) for name in finals} == {size.d} == {measured.depth}
    assert reading.breadth() == size.b == measured.breadth
    assert reading.components() == size.p == measured.parallel
    assert len(reading.needed()) == size.n * size.p == measured.needed == problem.graph.needed
    assert len(reading.statements) == size.T == measured.statements
    assert reading.needed() == set(problem.graph.quantities[: problem.graph.needed])
    return reading


@settings(max_examples=150, deadline=None)
@given(recipes(), INDICES)
def test_the_text_is_what_the_certificate_says(recipe, index):
    agree(generate(recipe, index))


@settings(max_examples=80, deadline=None)
@given(recipes(abstract=True), INDICES)
def test_category_totals_count_as_quantities(recipe, index):
    problem = generate(recipe, index)
    reading = agree(problem)
    totals = [
        name
        for name, operator in zip(problem.graph.quantities, problem.graph.operators, strict=True)
        if operator.form is Form.TOTAL
    ]
    assert totals
    assert not set(totals) & set(reading.statements)
    assert all(item in problem.question.split("A category word (")[1].split(")")[0] for _, item in totals)


@settings(max_examples=80, deadline=None)
@given(recipes(), INDICES)
def test_every_needed_quantity_moves_its_final_answer(recipe, index):
    problem = generate(recipe, index)
    reading = reader.read(problem.question)
    finals = problem.asked[problem.parameters.h - 1 :: problem.parameters.h]
    truth = [reading.value(final) for final in finals]
    for name in reading.needed():
        changed = {name: (reading.value(name) + 1) % 23}
        moved = [reading.value(final, changed) != value for final, value in zip(finals, truth, strict=True)]
        assert sum(moved) == 1, f"{name} must move exactly the final answer of its component"


@settings(max_examples=100, deadline=None)
@given(recipes(attacked=True), INDICES)
def test_every_poison_changes_the_final_answer_alone_and_together(recipe, index):
    problem = generate(recipe, index)
    reading = agree(problem)
    poisoned = problem.poisoned
    assert len(poisoned.targets) == problem.parameters.r == len(set(poisoned.targets))
    h = problem.parameters.h
    believed = {problem.asked[target]: value for target, value in zip(poisoned.targets, poisoned.values, strict=True)}
    for target, value, final in zip(poisoned.targets, poisoned.values, poisoned.finals, strict=True):
        sink = target // h * h + h - 1
        assert value != problem.answers[target]
        assert final == reading.value(problem.asked[sink], {problem.asked[target]: value}) != problem.answers[sink]
        assert poisoned.joint[sink] != problem.answers[sink]
    assert poisoned.joint == tuple(reading.value(name, believed) for name in problem.asked)


def test_the_passage_is_the_same_along_the_horizon_sweep():
    texts = set()
    for value, parameters in axes.sweep(Axis.HORIZON).items():
        recipe = Recipe(axis=Axis.HORIZON, parameters=parameters, split=Split.TEST, value=value)
        texts.add(generate(recipe, 7).question.split("\n\n")[0])
    assert len(texts) == 1


@pytest.mark.parametrize("needle", [False, True])
@pytest.mark.parametrize("kind", AttackKind)
def test_the_passage_without_attack_sentences_is_the_same_along_the_robustness_sweep(kind, needle):
    texts = set()
    targets: set[str] = set()
    for r in range(13):
        parameters = Parameters(d=13, b=2, n=16, T=24, h=12, r=r)
        recipe = Recipe(axis=Axis.ROBUSTNESS, parameters=parameters, split=Split.TRAIN, attack=kind, needle=needle)
        problem = generate(recipe, 11)
        text = problem.question
        for sentence in problem.poisoned.texts if problem.poisoned else ():
            assert text.count(" " + sentence) == 1
            text = text.replace(" " + sentence, "")
        texts.add(text)
        attacked = {str(problem.asked[target]) for target in problem.poisoned.targets} if problem.poisoned else set()
        assert targets <= attacked, "what a lower value attacks, a higher one attacks too"
        targets = attacked
    assert len(texts) == 1


def test_the_kind_of_attack_and_the_style_leave_the_graph_alone():
    graphs = {
        generate(Recipe(axis=Axis.ROBUSTNESS, parameters=SMALL, split=Split.TEST, attack=kind, style=style), 3).graph
        for kind in (None, *AttackKind)
        for style in Style
    }
    assert len(graphs) == 1


def test_an_attack_never_looks_like_a_statement_and_stands_after_what_it_denies():
    parameters = Parameters(d=13, b=2, n=16, T=24, h=12, r=12)
    for kind in AttackKind:
        recipe = Recipe(axis=Axis.ROBUSTNESS, parameters=parameters, split=Split.TEST, attack=kind)
        for index in range(20):
            problem = generate(recipe, index)
            for sentence in problem.poisoned.texts:
                item, owner = re.search(r"the number of (.+) that (.+) has", sentence).groups()
                assert not sentence.startswith("The number of each")
                assert problem.question.index(f"each {owner}'s {item} equals") < problem.question.index(sentence)


def test_needles_are_asked_in_turn_with_quantities_and_their_numbers_stand_in_the_text():
    parameters = Parameters(d=5, b=2, n=8, T=24, h=4, r=3)
    recipe = Recipe(axis=Axis.ROBUSTNESS, parameters=parameters, split=Split.TEST, attack=AttackKind.NOTE, needle=True)
    problem = generate(recipe, 2)
    assert [owner == "magic number" for owner, _ in problem.asked] == [False, True] * 4
    for (owner, item), answer in zip(problem.asked, problem.answers, strict=True):
        if owner == "magic number":
            assert f"One of the special magic numbers for {item} is: {answer}." in problem.question
    assert len(problem.poisoned.targets) == 3
    assert all(
        problem.answers[target] != value
        for target, value in zip(problem.poisoned.targets, problem.poisoned.values, strict=True)
    )


@pytest.mark.parametrize("split", Split)
@pytest.mark.parametrize("p", [1, 3])
def test_final_answers_are_exactly_flat(split, p):
    parameters = Parameters(d=3, b=2, n=5, T=16 * p, p=p)
    recipe = Recipe(axis=Axis.COMBINE, parameters=parameters, split=split)
    rows = [generate(recipe, index).answers for index in range(2 * 23)]
    for component in range(p):
        assert Counter(row[component] for row in rows) == dict.fromkeys(range(23), 2)


def test_no_text_occurs_twice_even_in_the_smallest_family():
    recipes_ = [Recipe(axis=Axis.COMBINE, parameters=Parameters(d=2, b=1, n=2, T=2), split=split) for split in Split]
    texts = [generate(recipe, index).question for recipe in recipes_ for index in range(3_000)]
    assert len(set(texts)) == len(texts)


def test_an_index_beyond_the_family_is_refused():
    recipe = Recipe(axis=Axis.DEPTH, parameters=SMALL, split=Split.TEST)
    last = 8_712 * 23 - 1
    assert generate(recipe, last).id.endswith(str(last))
    with pytest.raises(UsageError, match=f"0 to {last}"):
        generate(recipe, last + 1)


def test_the_same_key_gives_the_same_bytes_in_another_process():
    code = (
        "from mas_orchestra.masbench.generate import *; from mas_orchestra.masbench.problem import *;"
        "r = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=5, b=2, n=8, T=24), split=Split.TRAIN);"
        "print(generate(r, 9).model_dump_json())"
    )
    recipe = Recipe(axis=Axis.DEPTH, parameters=SMALL, split=Split.TRAIN)
    here = [generate(recipe, index).model_dump_json() for index in (10, 9)][1]
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "77"}
    )
    assert there.stdout.strip() == here


@settings(max_examples=30, deadline=None)
@given(recipes(attacked=True), INDICES)
def test_a_row_survives_its_json_and_validates(recipe, index):
    problem = generate(recipe, index)
    assert Problem.model_validate_json(problem.model_dump_json()) == problem


def test_exact_states_modulus_range_precedence_and_format_and_paper_does_not():
    parameters = Parameters(d=5, b=2, n=8, T=24, h=2, r=1)
    texts = {
        style: generate(
            Recipe(axis=Axis.ROBUSTNESS, parameters=parameters, split=Split.TEST, attack=AttackKind.NOTE, style=style),
            0,
        ).question
        for style in Style
    }
    for phrase in ("modulo 23", "0 to 22", "the numbered statements win", r"\boxed{answer}"):
        assert phrase in texts[Style.EXACT]
        assert phrase not in texts[Style.PAPER]


def test_an_attack_that_is_not_named_is_refused():
    with pytest.raises(UsageError, match="note, correction, claim, injection"):
        Recipe(axis=Axis.ROBUSTNESS, parameters=Parameters(d=5, b=2, n=8, T=24, h=2, r=1), split=Split.TEST)
    with pytest.raises(UsageError, match="needles need a kind of attack"):
        Recipe(axis=Axis.ROBUSTNESS, parameters=SMALL, split=Split.TEST, needle=True)
