"""From a run to a score, by status and by kind."""

from dataclasses import dataclass

import pytest

from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.score import Scorers, score
from mas_orchestra.score.text import Metric, TextScorer
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus


@dataclass(frozen=True)
class Ended:
    status: OutcomeStatus
    answer: str | None = None


ANSWERED = OutcomeStatus.ANSWERED


@pytest.fixture
def scorers():
    with Scorers.standard() as scorers:
        yield scorers


def task(kind="text", answers=("Paris",)):
    return Task(id="t", question="Which city?", answers=answers, kind=kind)


@pytest.mark.parametrize("status", [OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED])
async def test_a_run_that_says_nothing_about_the_system_is_not_scored(scorers, status):
    found = await score(task(), Ended(status), scorers)

    assert (found.value, found.reason) == (None, status.value)


@pytest.mark.parametrize(
    "status", sorted(set(OutcomeStatus) - {ANSWERED, OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED})
)
async def test_any_other_run_without_an_answer_is_worth_nothing(scorers, status):
    found = await score(task(), Ended(status), scorers)

    assert (found.value, found.reason) == (0.0, status.value)


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0"])
@pytest.mark.parametrize("kind", ["text", "mathematics", "masbench", "choice"])
async def test_an_answer_of_blanks_is_worth_nothing(scorers, kind, blank):
    found = await score(task(kind, ("A",)), Ended(ANSWERED, blank), scorers)

    assert (found.value, found.reason) == (0.0, "empty_answer")


@pytest.mark.parametrize(
    ("kind", "gold", "wrong"),
    [("text", "Paris", "Rome"), ("mathematics", "42", "41"), ("masbench", "19", "42"), ("choice", "B", "C")],
)
async def test_the_scorer_of_the_kind_decides(scorers, kind, gold, wrong):
    assert (await score(task(kind, (gold,)), Ended(ANSWERED, gold), scorers)).value == 1.0
    assert (await score(task(kind, (gold,)), Ended(ANSWERED, wrong), scorers)).value == 0.0


async def test_a_task_without_a_kind_is_not_scored(scorers):
    found = await score(task(""), Ended(ANSWERED, "Paris"), scorers)

    assert (found.value, found.reason) == (None, "not_scored")


async def test_an_unknown_kind_is_named_with_the_nearest(scorers):
    with pytest.raises(UnknownNameError, match="Did you mean 'mathematics'"):
        await score(task("matematics"), Ended(ANSWERED, "1"), scorers)


async def test_judged_tasks_need_a_judge(scorers):
    with pytest.raises(UsageError, match="judge=MODEL"):
        await score(task("judge"), Ended(ANSWERED, "1"), scorers)


def test_a_kind_can_be_given_another_scorer():
    judge = ScriptedModel.from_function(lambda *_: "no")
    with Scorers.standard(judge=judge) as scorers:
        judged = scorers.using("text", scorers["judge"])

        assert scorers.names["text"] == "text:exact"
        assert judged.names["text"] == scorers.names["judge"] != "text:exact"
        assert scorers.using("text", TextScorer(metric=Metric.F1)).names["text"] == "text:f1"
