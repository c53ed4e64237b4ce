import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import vocabulary
from mas_orchestra.masbench.attack import WORDINGS
from mas_orchestra.masbench.categories import CHAINS, PUBLISHED_CHAINS
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import Axis, Parameters, Split
from masbench.recipes import recipes

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


def layer_of(name: str) -> tuple[int, int]:
    """Chain and layer of a name or category word."""
    for chain, categories in enumerate(CHAINS):
        for layer, category in enumerate(categories):
            if name == category or name in vocabulary.vocabulary()[category]:
                return chain, layer
    raise AssertionError(name)


@settings(max_examples=60, deadline=None)
@given(recipes() | recipes(abstract=True), st.integers(0, 3_000))
def test_a_quantity_is_an_owner_and_an_item_of_the_next_layer(recipe, index):
    for owner, item in generate(recipe, index).graph.quantities:
        chain, layer = layer_of(owner)
        assert layer_of(item) == (chain, layer + 1)


@settings(max_examples=60, deadline=None)
@given(recipes() | recipes(abstract=True), st.integers(0, 3_000))
def test_all_names_belong_to_the_pool_of_the_split(recipe, index):
    known = {name for layers in vocabulary.pools(recipe.split) for names in layers for name in names} | set(CATEGORIES)
    assert {name for pair in generate(recipe, index).graph.quantities for name in pair} <= known


@pytest.mark.parametrize("p", [2, 6, 7, 12])
def test_components_share_no_name(p):
    recipe = Recipe(axis=Axis.COMBINE, parameters=Parameters(d=3, b=2, n=5, T=6 * p, p=p), split=Split.TEST)
    for index in range(20):
        graph = generate(recipe, index).graph
        group = {name: place for place, name in enumerate(graph.quantities)}
        for parent, child in graph.edges:
            one, other = group[graph.quantities[parent]], group[graph.quantities[child]]
            group = {name: one if place == other else place for name, place in group.items()}
        needed = graph.quantities[: graph.needed]
        owners = {}
        for name in needed:
            for word in name:
                assert owners.setdefault(word, group[name]) == group[name]
        assert len(set(owners.values())) == p


def test_the_owner_of_a_total_owns_nothing_else():
    recipe = Recipe(axis=Axis.COMBINE, parameters=Parameters(d=5, b=3, n=12, T=24), split=Split.TRAIN, abstract=True)
    for index in range(50):
        graph = generate(recipe, index).graph
        for place, (owner, item) in enumerate(graph.quantities):
            if item in CATEGORIES:
                parts = [graph.quantities[parent] for parent, child in graph.edges if child == place]
                assert sorted(parts) == sorted(
                    name for name in graph.quantities if name[0] == owner and name[1] != item
                )


def test_the_first_final_quantity_runs_through_all_pairs():
    """23 rows share one pair, and no two blocks of 23 do."""
    recipe = Recipe(axis=Axis.COMBINE, parameters=Parameters(d=2, b=1, n=2, T=2), split=Split.TEST)
    pairs = [generate(recipe, index).asked[-1] for index in range(0, 23 * 300, 23)]
    assert len(set(pairs)) == 300
    assert {generate(recipe, index).asked[-1] for index in range(23)} == {pairs[0]}
