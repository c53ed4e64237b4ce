"""The shipped profiles, and how a simulated model is told from a real one."""

import pytest
from pydantic import ValidationError

from mas_orchestra.errors import UnknownNameError
from mas_orchestra.simulate import is_simulated, profiles
from mas_orchestra.simulate.profile import profile
from support.simulated import FLAWLESS


def test_the_three_profiles_are_there():
    assert list(profiles()) == ["weak", "strong", "short-output"]
    assert all(found.summary for found in profiles().values())


def test_the_strong_one_is_stronger_and_the_short_one_is_cut_sooner():
    weak, strong, short = profiles().values()

    assert weak.misreading > strong.misreading
    assert short.operation_budget < strong.operation_budget


@pytest.mark.parametrize(
    "uri",
    [
        "sim:weak",
        "sim:strong?seed=3",
        "openai:sim:weak@http://127.0.0.1:8123/v1",
        "sim:weak (SIMULATED)",
        "weak (SIMULATED)",
    ],
)
def test_a_simulated_model_is_told_by_its_name(uri):
    assert is_simulated(uri)


@pytest.mark.parametrize(
    "uri", ["openai:gpt-5", "local:smollm2-135m", "scripted:sim.toml", "openai:simulacrum", "simple"]
)
def test_a_real_one_is_not(uri):
    assert not is_simulated(uri)


def test_an_unknown_profile_names_the_known_ones():
    with pytest.raises(UnknownNameError, match="Known: short-output, strong, weak"):
        profile("medium")


@pytest.mark.parametrize("change", [{"belief": 1.5}, {"lookup": -1}, {"operation_budget": 0}, {"charm": 1}])
def test_a_profile_of_impossible_numbers_is_refused(change):
    with pytest.raises(ValidationError):
        type(FLAWLESS).model_validate(FLAWLESS.model_dump() | change)
