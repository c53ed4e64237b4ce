"""Example attempts: one of each kind, the same ones every time."""

from mas_orchestra.evaluate.entrants import entrants
from mas_orchestra.evaluate.examples import choose_examples
from mas_orchestra.types import OutcomeStatus
from support.results import attempt, duel, info, run, study, task


def kinds(results, **options):
    return [one.kind for one in choose_examples(entrants([results]), **options)]


def test_one_of_each_kind_in_a_fixed_order() -> None:
    results = duel([1.0, 0.0, 1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0])
    attempts = list(results.attempts)
    attempts[4] = attempt("mas", "t4", score=0.0, status=OutcomeStatus.INVALID_PLAN)

    assert kinds(run(results.systems, results.tasks, attempts)) == [
        "right where the reference is wrong",
        "wrong where the reference is right",
        "right, and so is the reference",
        "wrong, and so is the reference",
        "no valid plan",
    ]


def test_where_kinds_are_missing_others_fill_up_and_errors_come_last() -> None:
    found = kinds(duel([1.0, None, 1.0, 1.0, None, 1.0], [1.0] * 6))

    assert found == ["right, and so is the reference"] * 4 + ["without a score"]


def test_examples_are_of_multi_agent_systems() -> None:
    chosen = choose_examples(entrants([study(per_value=3, k=1)]))

    assert len(chosen) == 5
    assert not any(one.entrant.info.is_single_agent for one in chosen)
    assert len({id(one.attempt) for one in chosen}) == 5


def test_with_single_agents_only_they_are_shown() -> None:
    results = run(
        [info("cot", single=True)], [task("a"), task("b")], [attempt("cot", "a"), attempt("cot", "b", score=0.0)]
    )

    assert sorted(kinds(results)) == ["right", "wrong"]


def test_the_choice_is_the_same_every_time() -> None:
    results = study(per_value=3, k=2)

    assert choose_examples(entrants([results])) == choose_examples(entrants([results]))
    assert len(choose_examples(entrants([results]), count=2)) == 2


def test_no_attempt_is_no_example() -> None:
    assert not kinds(run([info("mas")], [task("a")], []))
