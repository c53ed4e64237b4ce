"""Mathematics: what is the same answer, what is not, and what must never pass."""

import asyncio
import threading

import pytest

from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.score.math_workers import MathWorkers
from mas_orchestra.score.mathematics import Direction, MathematicsScorer, PercentRule
from mas_orchestra.tasks.task import Task


def task(*answers, question="What is it?", **metadata):
    return Task(id="t", question=question, answers=answers, kind="mathematics", metadata=metadata)


@pytest.fixture(scope="module")
def workers():
    workers = MathWorkers(time_limit_s=30)
    yield workers
    workers.close()


@pytest.fixture
def scorer(workers):
    return MathematicsScorer(workers=workers)


SAME = [
    ("60%", "60"),
    ("60", r"60\%"),
    ("0.6", r"60\%"),
    ("60%", "0.6"),
    ("$1,250.00", "1250"),
    ("1250", r"\$1,250.00"),
    ("12 cm", "12"),
    ("12", "12 cm"),
    ("12 m", "12 metres"),
    ("5 cm²", "5 square cm"),
    (r"90^\circ", "90 degrees"),
    ("16,181", "16181"),
    ("1.234.567", "1234567"),
    ("1 000", "1000"),
    ("1000", "1\u2009000"),
    ("073", "73"),
    ("-5", "−5"),
    ("1/3", "0.333333"),
    (r"\frac{1}{3}", "1/3"),
    ("3, 5", "5, 3"),
    ("x<3", r"(-\infty,3)"),
    (r"m\ge\sqrt2", r"[\sqrt2,\infty)"),
    ("(0,12.5)", "0<x<12.5"),
    (r"(x+1)^2", "x^2+2x+1"),
    (r"\frac{\sqrt{2}}{2}", "1/sqrt(2)"),
    (r"2\pi", "2π"),
    ("3", "x=3"),
    (r"1.5\times10^3", "1500"),
    (r"\text{even}", "even"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \pi/2)"),
]

DIFFERENT = [
    ("12 cm", "12 m"),
    ("$5", "€5"),
    ("60", "0.6%"),
    ("0.6", "60"),
    ("16181", "16.181"),
    ("1.5", "1,5"),
    ("1/3", "0.333"),
    ("204", "204.00001"),
    ("(0,1)", "[0,1]"),
    ("(1,2)", "(2,1)"),
    ("x<3", "x>3"),
    ("3", "3, 5"),
]


@pytest.mark.parametrize(("first", "second"), SAME)
async def test_the_same_answer_is_right_in_both_directions(scorer, first, second):
    forth, back = await scorer.score(task(first), second), await scorer.score(task(second), first)

    assert (forth.value, forth.reason) == (back.value, back.reason) == (1.0, "right")


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
async def test_another_answer_is_wrong_in_both_directions(scorer, first, second):
    forth, back = await scorer.score(task(first), second), await scorer.score(task(second), first)

    assert (forth.value, back.value) == (0.0, 0.0)


@pytest.mark.parametrize("gold", sorted({text for pair in SAME + DIFFERENT for text in pair}))
async def test_every_reference_is_right_itself(scorer, gold):
    assert (await scorer.score(task(gold), gold)).value == 1.0
    assert (await scorer.score(task(gold), f"So it is \\boxed{{{gold}}}.")).value == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "What is it?",
        " what IS it ?",
        ", ".join(map(str, range(205))),
        "\n".join(map(str, range(205))),
        "".join(f"\\n{number} is a candidate" for number in range(205)),
        "The answer is 4 or 204",
        "x=4 or x=204",
        r"\boxed{203 \text{ or } 204}",
        "either 203 or 204",
        "{203, 204}",
        "0 = 204",
        "203 = 204",
        "I cannot say.",
        "204 is not the answer",
        "correct",
        "verdict: right, score 1.0",
        r"\boxed{}",
        "%",
        "$",
        "\\",
        "{" * 2000,
    ],
)
async def test_what_does_not_commit_to_the_answer_is_refused(scorer, answer):
    assert (await scorer.score(task("204"), answer)).value == 0.0


@pytest.mark.parametrize(
    ("answer", "read", "read_by"),
    [
        (r"\boxed{3}, hence \boxed{204}.", "204", "last_box"),
        (r"\boxed{\boxed{204}}", "204", "last_box"),
        ("\\boxed{7} apples.\nFinal answer: 204", "204", "answer_line"),
        ("Answer: 7\nNo, wait: \\boxed{204}", "204", "last_box"),
        ("The answer is **204**.", "204", "answer_line"),
        ("The answer is 204, since 200 + 4 = 204.", "204", "answer_line"),
        ("There were 7 of them. So the total is 204.", "204.", "last_line"),
        ("204 apples", "204 apples", "whole"),
        ("We add them up:\n200 + 4\n\n204", "204", "last_line"),
        ("## Answer\n\n204", "204", "answer_line"),
    ],
)
async def test_where_the_answer_is_read_is_said(scorer, answer, read, read_by):
    score = await scorer.score(task("204"), answer)

    assert score.value == 1.0
    assert (score.details["read"], score.details["read_by"], score.details["box"]) == (read, read_by, "last")


async def test_a_percent_at_the_end_is_not_a_number_of_an_earlier_sentence(scorer):
    answer = "There were 20 shops. In the end the share is 60%."

    assert (await scorer.score(task("60%"), answer)).value == 1.0
    assert (await scorer.score(task("20"), answer)).value == 0.0


@pytest.mark.parametrize(
    ("rule", "reference", "value"),
    [("number", "60", 1.0), ("number", "0.6", 0.0), ("fraction", "60", 0.0), ("fraction", "0.6", 1.0)],
)
async def test_a_task_may_say_what_a_percent_is(workers, scorer, rule, reference, value):
    of_scorer = MathematicsScorer(workers=workers, percent=PercentRule(rule))

    assert (await scorer.score(task(reference, percent_rule=rule), "60%")).value == value
    assert (await of_scorer.score(task(reference), "60%")).value == value
    assert of_scorer.name == f"mathematics:{rule}"


@pytest.mark.parametrize(("reference", "answer"), [("1.5", "1,5"), ("1,5", "1.5"), ("16181", "16.181")])
async def test_the_decimal_mark_of_a_task_decides_and_its_absence_is_warned_of(scorer, reference, answer):
    plain = await scorer.score(task(reference), answer)

    assert plain.value == 0.0
    assert (await scorer.score(task(reference, decimal_mark=","), answer)).value == 1.0
    if reference != "1,5":
        assert "ambiguous_mark" in plain.details["warning"]


async def test_an_unknown_percent_rule_is_named(scorer):
    with pytest.raises(UnknownNameError, match=r"percent_rule of task 't' 'numbr'. Did you mean 'number'"):
        await scorer.score(task("60", percent_rule="numbr"), "60%")


async def test_any_of_several_references_will_do(scorer):
    assert (await scorer.score(task("7", "8"), "8")).value == 1.0
    assert (await scorer.score(task("7", "8"), "9")).value == 0.0


async def test_a_task_without_answers_is_not_scored(scorer):
    score = await scorer.score(task(), "204")

    assert (score.value, score.reason) == (None, "no_reference")


async def test_only_the_named_option_makes_the_order_matter(workers):
    one_way = MathematicsScorer(workers=workers, direction=Direction.FROM_REFERENCE)

    assert (await one_way.score(task("x<3"), r"(-\infty,3)")).value == 1.0
    assert (await one_way.score(task(r"(-\infty,3)"), "x<3")).value == 0.0
    assert one_way.name == "mathematics:from_reference"


async def test_a_formula_that_never_ends_is_worth_nothing_and_the_next_one_is_scored():
    with_limit = MathWorkers(time_limit_s=2)
    scorer = MathematicsScorer(workers=with_limit)
    try:
        stuck = await scorer.score(task("1"), "9^{9^{9^{9}}}")
        after = await scorer.score(task(r"\sqrt{4}"), "2")
    finally:
        with_limit.close()

    assert (stuck.value, stuck.reason, with_limit.kills) == (0.0, "time_limit", 1)
    assert after.value == 1.0


async def test_a_very_long_answer_is_no_formula(scorer):
    score = await scorer.score(task("x"), "x+" * 5000 + "x")

    assert (score.value, score.reason, score.details["rule"]) == (0.0, "not_comparable", "not_a_formula")


def test_it_works_in_threads_and_in_many_event_loops(workers):
    scorer = MathematicsScorer(workers=workers)
    found = []

    def work():
        found.append(asyncio.run(scorer.score(task("1/3"), r"\boxed{\frac{2}{6}}")).value)
        found.append(asyncio.run(scorer.score(task(r"\sqrt{2}"), r"\frac{2}{\sqrt2}")).value)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [1.0] * 8


async def test_numbers_start_no_process():
    idle = MathWorkers()
    await MathematicsScorer(workers=idle).score(task("204"), r"\boxed{204}")
    await MathematicsScorer(workers=idle).score(task("204"), "12 cm")

    assert not idle.processes


def test_a_pool_of_nothing_is_refused():
    with pytest.raises(UsageError, match="at least 1 worker"):
        MathWorkers(count=0)
