"""Comparisons in words: the four verdicts, and what there is to say when there is nothing to compare."""

from dataclasses import replace

import pytest

from mas_orchestra.evaluate.scoreboard import scoreboard
from mas_orchestra.evaluate.verdict import VerdictKind
from support.results import attempt, duel, info, run, task


def only(results, **options):
    (one,) = scoreboard([results], **options).comparisons
    return one


@pytest.mark.parametrize(
    ("system", "reference", "kind", "words"),
    [
        ([1.0] * 30, [0.0] * 30, VerdictKind.SYSTEM_BETTER, "multi-agent better"),
        ([0.0] * 30, [1.0] * 30, VerdictKind.REFERENCE_BETTER, "single-agent better"),
        ([1.0, 0.0] * 400, [1.0, 0.0] * 400, VerdictKind.EQUIVALENT, "no difference larger than 2 points"),
        ([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], VerdictKind.CANNOT_TELL, "cannot tell: needs about 150 tasks"),
    ],
)
def test_each_verdict_has_its_words(system, reference, kind, words) -> None:
    one = only(duel(system, reference))

    assert (one.verdict.kind, one.conclusion) == (kind, words)


def test_too_few_tasks_say_how_many_it_takes() -> None:
    one = only(duel([1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]))

    assert one.verdict.kind is VerdictKind.CANNOT_TELL
    assert one.conclusion == f"cannot tell: needs about {one.power.tasks_needed:,} tasks"
    assert one.power.tasks_needed > 1000


def test_it_never_asks_for_fewer_tasks_than_there_are() -> None:
    # Enough tasks for the margin on average, but the mean lies at the margin's edge.
    one = only(duel([1.0] * 97 + [0.0] * 3, [1.0] * 95 + [0.0] * 5), margin=0.05)

    assert one.power.tasks_needed < one.difference.tasks
    assert one.conclusion == "cannot tell: needs more than 100 tasks"


@pytest.mark.parametrize(("first", "second"), [([None, None], [1.0, 1.0]), ([1.0, None], [None, 1.0])])
def test_no_task_in_common(first, second) -> None:
    one = only(duel(first, second))

    assert one.conclusion == "cannot tell: needs at least 2 tasks scored for both"
    assert one.evidence == "No task was scored for both."
    assert "nan" not in one.gain


def test_one_task_in_common() -> None:
    one = only(duel([1.0, None], [0.0, 1.0]))

    assert one.evidence == "+100.0 points on the one task that was scored for both."
    assert one.verdict.kind is VerdictKind.CANNOT_TELL


def test_an_unknown_price_leaves_the_ratio_unknown() -> None:
    results = duel([1.0] * 3, [1.0] * 3)
    attempts = [*results.attempts[:-1], attempt("cot", "t2", cost_usd=None)]

    one = only(run(results.systems, results.tasks, attempts))

    assert one.ratio is None
    assert one.evidence.endswith("cost unknown.")


def test_a_reference_that_cost_nothing_leaves_no_ratio() -> None:
    results = duel([1.0] * 3, [1.0] * 3)

    one = only(replace(results, attempts=tuple(replace(one, cost_usd=0.0) for one in results.attempts)))

    assert one.evidence.endswith("the reference cost nothing.")


def test_two_single_agents_are_called_by_name() -> None:
    attempts = [attempt(name, f"t{n}", score=score) for n in range(20) for name, score in (("cot", 0.0), ("sc:5", 1.0))]
    systems = [info("cot", single=True, reference=True), info("sc:5", single=True)]

    assert only(run(systems, [task(f"t{n}") for n in range(20)], attempts)).conclusion == "sc:5 better"


def test_mcnemar_is_for_single_attempts_that_are_right_or_wrong() -> None:
    assert only(duel([1.0, 0.0], [0.0, 0.0])).mcnemar_p == 1.0
    assert only(duel([0.5, 0.0], [0.0, 0.0])).mcnemar_p is None
    assert only(duel([1.0, 0.0], [0.0, 0.0], k=2)).mcnemar_p is None


def test_the_whole_table_is_one_family() -> None:
    """The same result is less sure among many than alone."""
    names = ["mas", *(f"other{n}" for n in range(9))]
    tasks = [task(f"t{n}") for n in range(12)]
    attempts = [attempt("cot", one.id, score=float(place >= 6)) for place, one in enumerate(tasks)]
    attempts += [attempt("mas", one.id, score=1.0) for one in tasks]
    attempts += [attempt(name, one.id, score=float(n % 2)) for name in names[1:] for n, one in enumerate(tasks)]
    cot = info("cot", single=True, reference=True)

    alone = scoreboard([run([cot, info("mas")], tasks, attempts)]).comparisons[0]
    among = scoreboard([run([cot, *map(info, names)], tasks, attempts)]).comparisons[0]

    assert alone.difference == among.difference
    assert alone.conclusion == "multi-agent better"
    assert among.verdict.adjusted_p == pytest.approx(10 * alone.verdict.adjusted_p)
    assert among.conclusion.startswith("cannot tell")


def test_a_system_also_meets_the_self_consistency_that_was_given_its_cost() -> None:
    names = {"cot": 0.0, "mas": 1.0, "sc@cost:mas": 1.0}
    tasks = [task(f"t{n}") for n in range(20)]
    attempts = [attempt(name, one.id, score=score) for one in tasks for name, score in names.items()]
    systems = [info("cot", single=True, reference=True), info("mas"), info("sc@cost:mas", single=True)]

    found = scoreboard([run(systems, tasks, attempts)]).comparisons

    assert [(one.system.label, one.reference.label, one.conclusion.split(":")[0]) for one in found] == [
        ("mas", "cot", "multi-agent better"),
        ("mas", "sc@cost:mas", "cannot tell"),
        ("sc@cost:mas", "cot", "sc@cost"),
    ]


def test_the_baseline_of_the_same_cost_may_be_the_reference() -> None:
    systems = [info("mas"), info("sc@cost:mas", single=True, reference=True)]
    attempts = [attempt(one.name, "t0") for one in systems]

    assert len(scoreboard([run(systems, [task("t0")], attempts)]).comparisons) == 1
