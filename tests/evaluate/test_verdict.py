import numpy as np
import pytest
import scipy.stats

from mas_orchestra.evaluate.statistics import paired_difference
from mas_orchestra.evaluate.verdict import Comparison, VerdictKind, power, verdicts

GENERATOR = np.random.default_rng


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_tasks_promise_nothing(count):
    difference = paired_difference(np.ones(count), np.zeros(count), "x")
    assert power(difference, margin=0.02).tasks_needed is None


def test_the_promised_number_of_tasks_has_the_promised_power():
    rng = GENERATOR(8)
    margin, deviation = 0.1, 0.4
    pilot = paired_difference(rng.normal(0, deviation, 2000), np.zeros(2000), "pilot", draws=200)
    needed = power(pilot, margin=margin).tasks_needed
    found = sum(scipy.stats.ttest_1samp(rng.normal(margin, deviation, needed), 0).pvalue < 0.05 for _ in range(600))
    assert 0.75 <= found / 600 <= 0.86


def comparison(differences, margin=0.02):
    differences = np.asarray(differences, dtype=float)
    return Comparison(difference=paired_difference(differences, np.zeros(len(differences)), "v"), margin=margin)


def test_the_four_verdicts():
    rng = GENERATOR(9)
    noise = rng.normal(0, 0.05, 400)
    ends = verdicts(
        {
            "up": comparison(noise + 0.2),
            "down": comparison(noise - 0.2),
            "same": comparison(noise),
            "unclear": comparison(rng.normal(0, 0.5, 40)),
        }
    )
    assert {name: verdict.kind for name, verdict in ends.items()} == {
        "up": VerdictKind.SYSTEM_BETTER,
        "down": VerdictKind.REFERENCE_BETTER,
        "same": VerdictKind.EQUIVALENT,
        "unclear": VerdictKind.CANNOT_TELL,
    }
    assert "needs about" in ends["unclear"].reason


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_tasks_cannot_tell(count):
    verdict = verdicts({"x": comparison([1.0] * count)})["x"]
    assert verdict.kind is VerdictKind.CANNOT_TELL
    assert "at least 2 tasks" in verdict.reason


@pytest.mark.parametrize(("count", "kind"), [(2, VerdictKind.CANNOT_TELL), (150, VerdictKind.EQUIVALENT)])
def test_a_tie_on_every_task_proves_little_on_few_tasks(count, kind):
    tied = comparison([0.0] * count)

    assert verdicts({"x": tied})["x"].kind is kind
    assert power(tied.difference, margin=0.02).tasks_needed == 150
    assert power(tied.difference, margin=0.02).smallest_difference == min(1.0, 3 / count)


@pytest.mark.slow
def test_equal_systems_are_called_different_no_more_often_than_promised():
    """Family-wise: any of four comparisons of equal systems ends in "better" in about 5 % of the families."""
    rng = GENERATOR(10)
    families = 300
    false_alarms = 0
    for number in range(families):
        family = {}
        for name in "abcd":
            chance = rng.beta(1, 1, 100)
            left, right = rng.binomial(4, chance) / 4, rng.binomial(4, chance) / 4
            family[name] = Comparison(difference=paired_difference(left, right, number, name, draws=1000), margin=0.02)
        kinds = {verdict.kind for verdict in verdicts(family).values()}
        false_alarms += bool(kinds & {VerdictKind.SYSTEM_BETTER, VerdictKind.REFERENCE_BETTER})
    assert false_alarms / families <= 0.085


@pytest.mark.slow
def test_systems_that_differ_by_the_margin_are_rarely_called_equivalent():
    rng = GENERATOR(11)
    called = 0
    for number in range(300):
        differences = rng.normal(0.05, 0.3, 300)
        difference = paired_difference(differences, np.zeros(300), number, draws=1000)
        called += verdicts({"x": Comparison(difference=difference, margin=0.05)})["x"].kind is VerdictKind.EQUIVALENT
    assert called / 300 <= 0.085
