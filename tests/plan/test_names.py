"""Slugs that providers accept, and near-miss names."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.plan.names import is_legal_id, slugs, undoubled
from strategies import hostile_text, ids

NAMES = st.lists(hostile_text(4), max_size=12, unique=True)


@given(names=NAMES)
def test_slugs_are_unique_and_acceptable(names):
    made = slugs(names)

    assert list(made) == names
    assert len(set(made.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", slug) for slug in made.values())


@given(names=NAMES, others=NAMES)
def test_a_slug_does_not_depend_on_its_neighbours(names, others):
    together = slugs([*others, *names])

    assert all(together[name] == slug for name, slug in slugs(names).items())


def test_a_name_that_is_a_slug_stays():
    assert slugs(["step-1", "CoT_Agent"]) == {"step-1": "step-1", "CoT_Agent": "CoT_Agent"}


def test_even_a_planted_collision_is_avoided():
    planted = slugs(["étape 2"])["étape 2"]
    made = slugs(["étape 2", planted])

    assert made[planted] == planted
    assert len(set(made.values())) == 2


@given(name=ids())
def test_ids_of_the_strategy_are_legal(name):
    assert is_legal_id(name)


@given(text=hostile_text())
def test_undoubled_finds_every_doubling(text):
    assert undoubled(text + text) == (text or None)
    assert undoubled(text + text + "!") is None or (text + text + "!")[: len(text) + 1] != text
