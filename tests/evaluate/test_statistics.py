import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from mas_orchestra.evaluate.statistics import (
    cost_ratio,
    holm,
    majority_at_k,
    mcnemar_exact,
    mean_interval,
    paired_difference,
    pass_at_k,
)

GENERATOR = np.random.default_rng


# --- intervals of one system ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "count"), [(0, 20), (3, 50), (250, 500), (980, 1000)])
def test_single_attempts_give_wilsons_interval(right, count):
    """For 0/1 task means the effective size is T - 1; only Student's factor lies between us and the textbook."""
    values = np.array([1.0] * right + [0.0] * (count - right))
    z_over_t = scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, count - 1)
    size = (count - 1 if 0 < right < count else count) * z_over_t**2
    low, high = proportion_confint(right / count * size, size, method="wilson")
    interval = mean_interval(values)
    assert (interval.low, interval.high) == pytest.approx((max(0, low), high), abs=1e-9)
    assert interval.tasks == count


@pytest.mark.parametrize(
    ("tasks", "attempts", "accuracy", "spread"),
    [(20, 1, 0.5, None), (30, 1, 0.9, None), (30, 8, 0.5, 2), (100, 8, 0.1, 1), (50, 1, 0.02, None)],
)
def test_the_interval_covers_the_truth_as_often_as_it_says(tasks, attempts, accuracy, spread):
    rng = GENERATOR(1)
    covered = 0
    repeats = 800
    for _ in range(repeats):
        chance = (
            np.full(tasks, accuracy) if spread is None else rng.beta(accuracy * spread, (1 - accuracy) * spread, tasks)
        )
        interval = mean_interval(rng.binomial(attempts, chance) / attempts)
        covered += interval.low <= accuracy <= interval.high
    assert 0.925 <= covered / repeats <= 1.0


def test_attempts_at_one_task_are_not_independent():
    """Eight equal attempts at 50 tasks say no more than one attempt at each."""
    once = np.array([1.0, 0.0] * 25)
    assert mean_interval(once) == mean_interval(once.copy())
    wide = mean_interval(once)
    naive = mean_interval(np.repeat(once, 8))
    assert naive.high - naive.low < (wide.high - wide.low) / 2


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_all_tasks_equal_leave_doubt(value):
    interval = mean_interval(np.full(10, value))
    assert interval.mean == value
    assert 0.2 < interval.high - interval.low < 0.4
    assert 0.0 <= interval.low <= interval.high <= 1.0


def test_without_tasks_there_is_no_mean_and_with_one_no_interval():
    none, one = mean_interval(np.array([])), mean_interval(np.array([0.5]))
    assert math.isnan(none.mean)
    assert none.tasks == 0
    assert one.mean == 0.5
    assert math.isnan(one.low)
    assert math.isnan(one.high)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_the_interval_is_inside_the_scale_and_around_the_mean(values):
    interval = mean_interval(np.array(values))
    assert 0.0 <= interval.low <= interval.mean + 1e-9
    assert interval.mean - 1e-9 <= interval.high <= 1.0


# --- paired differences ---------------------------------------------------------------------------------------------


def test_the_bootstrap_agrees_with_scipys():
    rng = GENERATOR(2)
    system, reference = rng.binomial(4, 0.6, 150) / 4, rng.binomial(4, 0.5, 150) / 4
    ours = paired_difference(system, reference, "test")
    theirs = scipy.stats.bootstrap(
        (system - reference,), np.mean, n_resamples=10_000, method="percentile", rng=GENERATOR(3)
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.006)
    assert ours.mean == pytest.approx(float(np.mean(system - reference)))


@pytest.mark.parametrize("count", [6, 12, 60])
def test_the_sign_flip_test_agrees_with_scipys(count):
    rng = GENERATOR(4)
    system, reference = rng.binomial(8, 0.6, count) / 8, rng.binomial(8, 0.45, count) / 8
    ours = paired_difference(system, reference, "test").p_value
    theirs = scipy.stats.permutation_test(
        (system, reference),
        lambda a, b, axis: np.mean(a - b, axis=axis),
        permutation_type="samples",
        n_resamples=10_000,
        rng=GENERATOR(5),
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.02)


def test_the_same_seed_gives_the_same_numbers():
    rng = GENERATOR(6)
    pair = rng.random(40), rng.random(40)
    assert paired_difference(*pair, "a", 1) == paired_difference(*pair, "a", 1)
    assert paired_difference(*pair, "a", 1) != paired_difference(*pair, "a", 2)


def test_equal_systems_differ_by_nothing():
    same = np.array([0.0, 0.5, 1.0])
    difference = paired_difference(same, same, "x")
    assert (difference.mean, difference.low, difference.high, difference.p_value) == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_tasks_say_nothing(count):
    difference = paired_difference(np.ones(count), np.zeros(count), "x")
    assert difference.p_value == 1.0
    assert math.isnan(difference.low)


def test_a_swap_turns_the_sign():
    rng = GENERATOR(7)
    left, right = rng.random(30), rng.random(30)
    forth, back = paired_difference(left, right, "x"), paired_difference(right, left, "x")
    assert forth.mean == pytest.approx(-back.mean)
    assert forth.low == pytest.approx(-back.high, abs=0.01)


# --- tests and corrections ------------------------------------------------------------------------------------------


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_agrees_with_statsmodels(only_system, only_reference):
    if only_system + only_reference == 0:
        assert mcnemar_exact(0, 0) == 1.0
        return
    theirs = mcnemar([[5, only_system], [only_reference, 5]], exact=True).pvalue
    assert mcnemar_exact(only_system, only_reference) == pytest.approx(min(1.0, theirs))


@settings(max_examples=20)  # theirs is slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(p_values):
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


# --- cost -----------------------------------------------------------------------------------------------------------


def test_the_cost_ratio_is_of_totals():
    ratio = cost_ratio(np.array([2.0, 4.0]), np.array([1.0, 1.0]), "x")
    assert ratio.mean == 3.0
    assert 2.0 <= ratio.low <= 3.0 <= ratio.high <= 4.0


def test_a_reference_that_costs_nothing_has_no_ratio():
    assert math.isnan(cost_ratio(np.ones(3), np.zeros(3), "x").mean)
    assert math.isnan(cost_ratio(np.array([]), np.array([]), "x").mean)


def test_one_task_has_a_ratio_and_no_interval():
    ratio = cost_ratio(np.array([3.0]), np.array([2.0]), "x")
    assert ratio.mean == 1.5
    assert math.isnan(ratio.low)


# --- repeated attempts ----------------------------------------------------------------------------------------------


@given(st.integers(1, 8), st.data())
def test_pass_at_k_is_the_mean_over_all_subsets(attempts, data):
    from itertools import combinations

    right = data.draw(st.integers(0, attempts))
    k = data.draw(st.integers(1, attempts))
    outcomes = [1] * right + [0] * (attempts - right)
    subsets = list(combinations(outcomes, k))
    assert pass_at_k(attempts, right, k) == pytest.approx(sum(map(max, subsets)) / len(subsets))


@pytest.mark.parametrize("k", [0, 5])
def test_pass_at_k_needs_k_attempts(k):
    with pytest.raises(ValueError, match=f"pass@{k} needs"):
        pass_at_k(4, 1, k)


@pytest.mark.parametrize(
    ("votes", "right", "value"),
    [
        ([1, 1, 2], [True, True, False], 1.0),
        ([1, 2, 2], [True, False, False], 0.0),
        ([1, 1, 2, 2], [True, True, False, False], 0.5),
        ([1, 2, 3], [False, False, True], pytest.approx(1 / 3)),
    ],
)
def test_a_tied_vote_counts_by_its_share(votes, right, value):
    assert majority_at_k(votes, right) == value


def test_no_vote_is_no_majority():
    assert math.isnan(majority_at_k([], []))
