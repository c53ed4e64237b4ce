import itertools
import re

import pytest

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import vocabulary
from mas_orchestra.masbench.attack import WORDINGS
from mas_orchestra.masbench.categories import CHAINS, PUBLISHED_CHAINS
from mas_orchestra.masbench.generate import Recipe
from mas_orchestra.masbench.problem import Axis, Parameters, Split

NAMES = [name for names in vocabulary.vocabulary().values() for name in names]
CATEGORIES = [category for chain in CHAINS for category in chain]


def test_there_are_six_chains_and_1500_names():
    assert len(CHAINS) >= 6
    assert list(vocabulary.vocabulary()) == CATEGORIES
    assert len(NAMES) == len(set(NAMES)) >= 1_500
    assert not set(CATEGORIES) & {word for chain in PUBLISHED_CHAINS for word in chain}


def test_names_are_plain_words_without_apostrophes():
    assert all(re.fullmatch(r"[A-Z][a-z]+(?:[ -][A-Za-z][a-z]+)*", name) for name in NAMES)
    grammar = {
        "and",
        "each",
        "equals",
        "the",
        "sum",
        "difference",
        "more",
        "than",
        "times",
        "does",
        "have",
        "has",
        "that",
    }
    assert not [name for name in NAMES if grammar & set(re.split("[ -]", name))]


def test_no_name_is_part_of_another_name_or_of_an_attack():
    texts = [*NAMES, *itertools.chain(*WORDINGS.values())]
    assert not [(name, text) for name in NAMES for text in texts if name in text and name != text]


def test_no_category_word_is_in_a_name():
    assert not [name for name in NAMES for category in CATEGORIES if category.lower() in name.lower()]


def test_train_and_test_share_no_name():
    train, test = (
        {name for layers in vocabulary.pools(split) for names in layers for name in names} for split in Split
    )
    assert not train & test
    assert train | test == set(NAMES)


@pytest.mark.parametrize("split", Split)
def test_the_sinks_of_a_split_are_all_different(split):
    count = vocabulary.sinks(split)
    assert len({vocabulary.nth_sink(split, number) for number in range(count)}) == count
    with pytest.raises(IndexError):
        vocabulary.nth_sink(split, count)


def test_more_statements_than_names_are_refused_with_the_numbers():
    with pytest.raises(UsageError, match=r"need \d+ names in every category, the test vocabulary has 22"):
        Recipe(axis=Axis.COMBINE, parameters=Parameters(d=3, b=2, n=5, T=9_000), split=Split.TEST)
