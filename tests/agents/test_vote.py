"""The vote: majority, stated ties, and when nothing can change it any more."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.agents.vote import undecided, vote

ballots = st.lists(st.integers(0, 3), min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("labels", "winner", "is_tie"),
    [
        ([0], 0, False),
        ([0, 0, 0, 1], 0, False),
        ([0, 1, 1], 1, False),
        ([3, 5, 3, 5], 0, True),
        ([5, 3, 3, 5], 0, True),
    ],
)
def test_most_votes_win_and_a_tie_goes_to_the_first_given(labels, winner, is_tie):
    result = vote(labels)

    assert (result.winner, result.is_tie) == (winner, is_tie)


def test_nothing_to_vote_on_is_an_error():
    with pytest.raises(ValueError, match="at least one answer"):
        vote([])


@given(ballots, st.randoms())
def test_without_a_tie_the_order_of_samples_does_not_matter(labels, random):
    shuffled = labels.copy()
    random.shuffle(shuffled)
    first, second = vote(labels), vote(shuffled)

    assert first.is_tie == second.is_tie
    if not first.is_tie:
        assert labels[first.winner] == shuffled[second.winner]


@given(ballots)
def test_every_sample_is_counted_once_and_the_most_frequent_come_first(labels):
    result = vote(labels)

    assert {labels[tally.first]: tally.count for tally in result.tallies} == Counter(labels)
    assert [tally.count for tally in result.tallies] == sorted(Counter(labels).values(), reverse=True)
    assert all(labels.index(labels[tally.first]) == tally.first for tally in result.tallies)


@given(ballots, st.integers(0, 6), st.data())
def test_a_vote_is_decided_exactly_when_no_further_samples_can_change_the_winner(labels, remaining, data):
    leader = labels[vote(labels).winner]
    rival = data.draw(st.integers(0, 9).filter(lambda label: label != leader))
    against = vote([*labels, *[rival] * remaining])

    if undecided(labels, remaining) == 0:
        assert (labels + [rival] * remaining)[against.winner] == leader
        assert remaining == 0 or not against.is_tie


@given(ballots, st.integers(1, 6))
def test_the_samples_asked_for_next_can_decide_and_fewer_cannot(labels, remaining):
    more = undecided(labels, remaining)
    leader = labels[vote(labels).winner]

    assert 0 <= more <= remaining
    if more:
        assert undecided([*labels, *[leader] * more], remaining - more) == 0
        assert undecided([*labels, *[leader] * (more - 1)], remaining - more + 1) > 0
