"""Accuracy, cost and rank of every system, with every degenerate case defined."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.evaluate.scoreboard import scoreboard
from mas_orchestra.evaluate.verdict import VerdictKind
from mas_orchestra.types import OutcomeStatus, Usage
from support.results import attempt, duel, info, run, task


def row_of(board, label):
    return next(row for row in board.rows if row.entrant.label == label)


def one_system(attempts, *, tasks=None, k=1):
    names = tasks or dict.fromkeys(one.task_id for one in attempts)
    board = scoreboard([run([info("s", single=True, reference=True)], [task(name) for name in names], attempts, k=k)])
    return row_of(board, "s"), board


def test_accuracy_is_the_mean_of_task_means() -> None:
    scores = {"a": (1.0, 1.0, 1.0, 1.0), "b": (0.0,)}
    attempts = [attempt("s", name, n, score=score) for name, many in scores.items() for n, score in enumerate(many)]

    row, _ = one_system(attempts, k=4)

    assert row.accuracy.mean == 0.5, "not 4 of 5: tasks weigh the same however many attempts were scored"
    assert row.accuracy.tasks == 2


def test_an_unscored_attempt_is_neither_right_nor_wrong() -> None:
    row, board = one_system([attempt("s", "a", 0), attempt("s", "a", 1, score=None), attempt("s", "b", 0, score=None)])

    assert (row.accuracy.mean, row.accuracy.tasks, row.scored, row.errored) == (1.0, 1, 1, 2)
    assert any("without a score" in warning and "s 2" in warning for warning in board.warnings)


def test_k_numbers_rest_on_the_tasks_of_which_all_attempts_are_scored() -> None:
    attempts = [
        *(attempt("s", "whole", n, score=score) for n, score in enumerate((1.0, 0.0, 0.0))),
        attempt("s", "part", 0, score=1.0),
        *(attempt("s", "part", n, score=None) for n in (1, 2)),
    ]

    row, _ = one_system(attempts, k=3)

    assert row.complete_tasks == 1
    assert row.average_at_k == pytest.approx(1 / 3)
    assert row.pass_at_k == 1.0
    assert row.majority_at_k == 0.0
    assert row.accuracy.mean == pytest.approx(2 / 3)


def test_majority_votes_over_equal_answers_and_ignores_those_without_one() -> None:
    answers = (("0.50", 1.0), (r"\frac12", 1.0), ("7", 0.0), (None, 0.0), (None, 0.0), (None, 0.0))
    attempts = [attempt("s", "a", n, score=score, answer=answer) for n, (answer, score) in enumerate(answers)]

    row, _ = one_system(attempts, k=6)

    assert row.majority_at_k == 1.0


def test_a_majority_without_any_answer_is_wrong() -> None:
    silent = [attempt("s", "a", n, score=0.0, answer=None, status=OutcomeStatus.INVALID_PLAN) for n in range(3)]

    assert one_system(silent, k=3)[0].majority_at_k == 0.0


def test_a_partial_score_counts_in_the_mean_and_passes_nothing() -> None:
    row, _ = one_system([attempt("s", "a", score=0.5)])

    assert (row.accuracy.mean, row.pass_at_k, row.majority_at_k) == (0.5, 0.0, 0.0)


def test_nothing_scored_is_undefined_and_never_zero() -> None:
    row, board = one_system([attempt("s", "a", score=None, cost_usd=None)])

    undefined = (row.accuracy.mean, row.average_at_k, row.pass_at_k, row.majority_at_k, row.latency_p50_s)
    assert all(math.isnan(value) for value in undefined)
    assert row.cost_usd is None
    assert not row.is_on_front
    assert "no attempt is scored of s" in board.warnings


def test_a_run_without_any_attempt_has_a_scoreboard() -> None:
    row, board = one_system([], tasks=["a", "b"], k=4)

    assert (row.scored, row.errored, row.missing, row.cost_usd) == (0, 0, 8, 0)
    assert math.isnan(row.attempt_cost_usd)
    assert any("missing: s 8" in warning for warning in board.warnings)


def test_one_unknown_price_makes_the_total_unknown() -> None:
    row, _ = one_system([attempt("s", "a", cost_usd=1.0), attempt("s", "b", cost_usd=None)])

    assert row.cost_usd is None
    assert row.attempt_cost_usd is None


def test_an_errored_attempt_is_paid_for_and_left_out_of_the_cost_of_an_attempt() -> None:
    row, _ = one_system([attempt("s", "a", cost_usd=0.04), attempt("s", "b", score=None, cost_usd=0.01)])

    assert row.cost_usd == pytest.approx(0.05)
    assert row.attempt_cost_usd == pytest.approx(0.04)


def test_tokens_calls_and_times_are_added_up() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, estimated=True)
    attempts = [attempt("s", f"t{n}", wall_s=n + 1.0, usage=usage, calls=4, cached_calls=1) for n in range(5)]

    row, board = one_system(attempts)

    assert (row.usage.total_tokens, row.usage.estimated, row.calls, row.cached_calls) == (75, True, 20, 5)
    assert (row.latency_p50_s, row.latency_p95_s) == (3.0, pytest.approx(4.8))
    assert any("response cache" in warning and "s 5" in warning for warning in board.warnings)


def priced(prices):
    """Systems by name, each with (accuracy over two tasks, cost)."""
    attempts = [
        attempt(name, f"t{place}", score=float(place < right), cost_usd=cost)
        for name, (right, cost) in prices.items()
        for place in range(2)
    ]
    return scoreboard([run([info(name, single=True) for name in prices], [task("t0"), task("t1")], attempts)])


def front_of(board):
    return [row.entrant.label for row in board.rows if row.is_on_front]


def test_the_front_holds_what_no_other_system_beats() -> None:
    assert front_of(priced({"cheap": (0, 1), "middle": (1, 2), "waste": (1, 3), "best": (2, 4)})) == [
        "cheap",
        "middle",
        "best",
    ]


def test_equal_systems_share_the_front_and_unknown_prices_have_no_place_on_it() -> None:
    assert front_of(priced({"one": (1, 2), "twin": (1, 2), "unknown": (2, None)})) == ["one", "twin"]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6))
def test_the_front_is_never_empty_and_always_holds_the_most_accurate(points) -> None:
    board = priced({f"s{number}": point for number, point in enumerate(points)})
    best = max(points, key=lambda point: (point[0], -point[1]))

    assert f"s{points.index(best)}" in front_of(board)


def test_a_clear_win_and_its_price() -> None:
    board = scoreboard([duel([1.0] * 30, [1.0] * 10 + [0.0] * 20)])
    (one,) = board.comparisons

    assert one.verdict.kind is VerdictKind.SYSTEM_BETTER
    assert one.conclusion == "multi-agent better"
    assert one.difference.mean == pytest.approx(2 / 3)
    assert one.ratio.mean == pytest.approx(1.0)
    assert one.mcnemar_p == pytest.approx(2 / 2**20)


def test_the_reference_is_compared_with_nothing() -> None:
    board = scoreboard([duel([1.0], [1.0])])

    assert [(one.system.label, one.reference.label) for one in board.comparisons] == [("mas", "cot")]


def test_without_a_marked_reference_the_first_single_agent_is_it() -> None:
    results = duel([1.0, 0.0], [1.0, 1.0])
    results = replace(results, systems=tuple(replace(one, is_reference=False) for one in results.systems))

    board = scoreboard([results])

    assert [one.reference.label for one in board.comparisons] == ["cot"]
    assert any("'cot' is taken" in warning for warning in board.warnings)


def test_without_any_single_agent_nothing_is_compared() -> None:
    board = scoreboard([run([info("mas")], [task("a")], [attempt("mas", "a")])])

    assert not board.comparisons
    assert any("nothing is compared" in warning for warning in board.warnings)


def test_a_margin_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        scoreboard([duel([1.0], [1.0])], margin=0.0)


def test_simulated_anywhere_is_simulated_everywhere() -> None:
    honest = duel([1.0], [1.0])
    simulated = replace(honest, systems=(honest.systems[0], replace(honest.systems[1], is_simulated=True)))

    assert not scoreboard([honest]).is_simulated
    assert scoreboard([simulated]).is_simulated
    assert row_of(scoreboard([simulated]), "mas").entrant.shown == "mas (SIMULATED)"


def test_the_same_run_gives_the_same_numbers() -> None:
    results = duel([1.0, 0.0, 1.0, 1.0] * 9, [0.0, 1.0, 1.0, 0.0] * 9)

    assert scoreboard([results]).comparisons == scoreboard([results]).comparisons
