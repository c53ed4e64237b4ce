"""Self-consistency: one request, a vote over equivalent answers, honest counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents import SCAgent
from mas_orchestra.agents.equivalence import group_by_relation
from mas_orchestra.errors import BudgetError, StepError
from support.context import call_of, cut, in_turn, says


async def run(*answers, **options):
    """The outcome and the context of a run whose samples answer like this; ``""`` is an empty reply."""
    context = in_turn(*[says(answer) if answer else "" for answer in answers])
    return await SCAgent(**options).run(call_of(), context), context


async def test_all_samples_are_asked_for_in_one_request():
    outcome, context = await run("42", "41", "42", "42", "40")

    assert outcome.answer == "42"
    assert [(call.purpose, call.params.n) for call in context.calls] == [("samples 1 to 5", 5)]
    assert outcome.details == {
        "samples": 5,
        "votes": [{"answer": "42", "count": 3}, {"answer": "41", "count": 1}, {"answer": "40", "count": 1}],
        "tie": False,
        "left_out": {},
    }


@pytest.mark.parametrize(
    ("answers", "winner", "votes"),
    [
        (("A", "A", "A", "B"), "A", 3),
        (("0.5", "1/3", "1/2", "\\frac{1}{2}", "1/3"), "0.5", 3),
        (("16,181", "16181", "16.181"), "16,181", 2),
        (("paris", "London", "Paris."), "paris", 2),
        (("a an the", "a an the", "A"), "a an the", 2),
    ],
)
async def test_equivalent_answers_vote_together(answers, winner, votes):
    outcome, _ = await run(*answers, samples=len(answers))

    assert outcome.answer == winner
    assert outcome.details["votes"][0]["count"] == votes


@pytest.mark.parametrize(("answers", "winner"), [(("3", "5", "3", "5"), "3"), (("5", "3", "3", "5"), "5")])
async def test_a_tie_goes_to_the_first_given_and_is_marked(answers, winner):
    outcome, _ = await run(*answers, samples=4)

    assert outcome.answer == winner
    assert outcome.details["tie"] is True


async def test_thinking_is_that_of_the_first_sample_with_the_winning_answer():
    context = in_turn(says("1", "no"), says("2", "first"), says("2", "second"))

    outcome = await SCAgent(samples=3).run(call_of(), context)

    assert outcome.thinking == "first"


async def test_unusable_samples_are_left_out_and_counted():
    context = in_turn("", says("7"), "Hm.\nWell.", cut("<thinking>on and on"), says("7"))

    outcome = await SCAgent().run(call_of(), context)

    assert outcome.answer == "7"
    assert outcome.details["votes"] == [{"answer": "7", "count": 2}]
    assert outcome.details["left_out"] == {"empty_reply": 1, "unreadable_reply": 1, "truncated_reply": 1}
    assert context.warned == ["empty_reply", "unreadable_reply", "truncated_reply"]
    assert len(context.calls) == 1


async def test_only_empty_samples_fail_after_one_repetition():
    with pytest.raises(StepError) as caught:
        await run(*[""] * 10)

    assert caught.value.code == "empty_reply"


async def test_a_spent_budget_passes_untouched():
    with pytest.raises(BudgetError):
        await SCAgent().run(call_of(), in_turn(BudgetError("calls", "spent")))


async def test_early_stop_asks_for_no_more_than_can_change_the_vote():
    outcome, context = await run("42", "42", "42", early_stop=True)

    assert outcome.answer == "42"
    assert [call.params.n for call in context.calls] == [3]
    assert outcome.details["samples"] == 3


async def test_early_stop_goes_on_while_the_vote_is_open():
    outcome, context = await run("42", "41", "42", "42", early_stop=True)

    assert outcome.answer == "42"
    assert context.purposes == ["samples 1 to 3", "sample 4"]


async def test_further_samples_have_seeds_of_their_own():
    _, context = await run("1", "2", "3", "4", "5", early_stop=True)

    seeds = [call.params.seed for call in context.calls]
    assert seeds[0] is None
    assert len(set(seeds)) == len(seeds) > 1


@given(st.lists(st.sampled_from(["1", "2", "3", "3.0", ""]), min_size=7, max_size=7).filter(lambda a: any(a[:2])))
async def test_early_stop_finds_the_winner_of_the_whole_vote(answers):
    whole, _ = await run(*answers, samples=7, format_retries=0)
    early, context = await run(*answers, *answers, samples=7, early_stop=True, format_retries=0)

    assert early.answer == whole.answer
    assert sum(call.params.n for call in context.calls) <= 7


async def test_a_stronger_equivalence_can_be_plugged_in():
    async def same_parity(answers):
        return group_by_relation(answers, lambda one, two: int(one) % 2 == int(two) % 2)

    outcome, _ = await run("1", "2", "3", "4", "5", grouping=same_parity)

    assert outcome.details["votes"] == [{"answer": "1", "count": 3}, {"answer": "2", "count": 2}]


async def test_a_grouping_that_loses_answers_is_refused():
    async def broken(answers):
        return [0] * (len(answers) - 1)

    with pytest.raises(StepError, match="4 labels for 5 answers"):
        await run("1", "2", "3", "4", "5", grouping=broken)


def test_the_card_counts_the_samples():
    card = SCAgent(samples=7).card

    assert card.max_calls(card.arguments()) == 7
    assert "7" in card.summary
    assert "7 calls" in card.cost
