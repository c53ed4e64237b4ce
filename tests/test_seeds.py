"""Random draws are a function of their path alone: no collisions, no order, no process."""

import itertools
import json
import os
import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.seeds import digest, rng

PART = st.text(max_size=6) | st.integers() | st.floats(allow_nan=False)
PATH = st.lists(PART, max_size=4).map(tuple)


def identity(path):
    """What makes a path: its values with their types (1, 1.0 and True differ; 0.0 and -0.0 too)."""
    return tuple((type(part), repr(part)) for part in path)


@given(PATH, PATH)
def test_two_paths_share_a_digest_only_if_they_are_one(first, second):
    assert (digest(*first) == digest(*second)) == (identity(first) == identity(second))


@given(st.lists(st.text(alphabet="ab:;1", max_size=5), min_size=2, max_size=4))
def test_moving_the_border_between_two_parts_is_another_path(parts):
    """Also with the very characters that separate parts inside."""
    joined = ("".join(parts[:2]), *parts[2:])
    assert digest(*parts) != digest(*joined)


def test_no_two_of_many_paths_collide():
    """All short paths over an alphabet made to be confused: separators, digits, numbers and their texts."""
    alphabet = ["", "a", "1", ":", ";", "1:a;", "str:'a'", 0, 1, 10, 1.0, -1, 0.1]
    paths = [path for length in range(4) for path in itertools.product(alphabet, repeat=length)]
    assert len({digest(*path) for path in paths}) == len({identity(path) for path in paths}) == 2380


def test_neighbours_in_a_series_have_nothing_in_common():
    """A series of seeds (task 0, 1, 2, …) gives generators whose first draws cover the unit interval evenly."""
    firsts = sorted(rng("task", number).random() for number in range(2000))
    gaps = [abs(value - (place + 0.5) / 2000) for place, value in enumerate(firsts)]
    assert max(gaps) < 0.05, "a Kolmogorov distance beyond any reasonable chance (1e-17)"


@given(PATH)
def test_a_path_gives_its_draws_whatever_was_drawn_before(path):
    expected = [rng(*path).random() for _ in range(2)]
    random.random()  # noqa: TID251  (the global generator is what must not matter)
    other = rng("something else")
    other.random()
    assert [rng(*path).random(), rng(*path).random()] == expected
    assert expected[0] == expected[1]


@given(PATH)
def test_two_generators_of_one_path_do_not_share_a_state(path):
    first, second = rng(*path), rng(*path)
    taken = [first.random() for _ in range(5)]
    assert [second.random() for _ in range(5)] == taken


@pytest.mark.parametrize("hash_seed", ["0", "1", "random"])
def test_another_process_draws_the_same(hash_seed):
    """Whatever that process hashes texts by."""
    code = (
        "import json; from mas_orchestra.seeds import digest, rng;"
        "print(json.dumps([digest('é', 1, 0.5), rng('masbench', 'train', 4).sample(range(10**6), 5)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )
    here = [digest("é", 1, 0.5), rng("masbench", "train", 4).sample(range(10**6), 5)]
    assert json.loads(done.stdout) == here


def test_the_digest_of_a_path_never_changes():
    """Published data and recorded runs are drawn by it: another number here is another data set."""
    assert digest() == int("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 16)
    assert digest("masbench", "train", 4) >> 192 == 10_148_165_623_564_701_458
