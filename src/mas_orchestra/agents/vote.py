"""A majority vote over equivalent answers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Tally", "Vote", "undecided", "vote"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many samples gave one answer.

    Attributes:
        first: Position of the first sample that gave it; its spelling stands for all.
        count: Samples that gave it.
    """

    first: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """The result of a vote.

    Attributes:
        tallies: One an answer: most votes first, then first given.
        is_tie: Another answer has as many votes as the winner.
    """

    tallies: tuple[Tally, ...]
    is_tie: bool

    @property
    def winner(self) -> int:
        """Position of the sample that is the answer."""
        return self.tallies[0].first


def vote(labels: Sequence[int]) -> Vote:
    """The most frequent label wins; of several, the one that was given first.

    >>> vote([7, 5, 5, 3]).winner
    1
    >>> vote([3, 5, 5, 3])
    Vote(tallies=(Tally(first=0, count=2), Tally(first=1, count=2)), is_tie=True)

    Raises:
        ValueError: Nothing to vote on.
    """
    if not labels:
        raise ValueError("a vote needs at least one answer")
    # Counter keeps the order of first appearance and most_common is stable.
    ranked = Counter(labels).most_common()
    tallies = tuple(Tally(first=labels.index(label), count=count) for label, count in ranked)
    return Vote(tallies=tallies, is_tie=len(tallies) > 1 and tallies[0].count == tallies[1].count)


def undecided(labels: Sequence[int], remaining: int) -> int:
    """Fewest further samples that could decide the vote, 0 once no outcome of the `remaining` ones can change it.

    >>> undecided([], 5), undecided([1, 1, 1], 2), undecided([1, 1, 2], 2), undecided([1, 1, 2, 2], 1)
    (3, 0, 1, 1)
    """
    counts = [count for _, count in Counter(labels).most_common(2)]
    lead = counts[0] - (counts[1] if len(counts) > 1 else 0) if counts else 0
    return 0 if lead > remaining else min(remaining, (remaining - lead) // 2 + 1)
