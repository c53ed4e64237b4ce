"""The tree of errors: codes that programs can rely on, messages for people, and the way between processes."""

import copy
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra import errors
from mas_orchestra.errors import (
    BudgetError,
    CallError,
    ContextOverflowError,
    EndpointError,
    FetchError,
    MasError,
    MissingExtraError,
    RateLimitError,
    StepError,
    UnknownNameError,
    UsageError,
    nearest,
)
from mas_orchestra.types import Usage
from support.failing import fail_with

KINDS = tuple(kind for name in errors.__all__ if isinstance(kind := getattr(errors, name), type))

PAID = Usage(input_tokens=7, cache_read_tokens=3, output_tokens=2, reasoning_tokens=1, estimated=True)


def example(kind):
    """One error of a kind, with every attribute away from its default."""
    if issubclass(kind, CallError):
        return kind("broke", endpoint="openai:m@http://h/v1", status=503, requests=5, usage=PAID)
    if kind in {FetchError, StepError}:
        return kind("why", "what happened")
    if kind is BudgetError:
        return BudgetError("tokens", "too many tokens")
    if kind is UnknownNameError:
        return UnknownNameError("sub-agent", "CotAgent", ["SCAgent", "CoTAgent"])
    if kind is MissingExtraError:
        return MissingExtraError("training", "train")
    return kind("what happened")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
class TestBetweenProcesses:
    @pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
    def test_an_error_comes_back_as_it_was(self, kind, protocol):
        error = example(kind)
        back = pickle.loads(pickle.dumps(error, protocol))
        assert type(back) is kind
        assert (str(back), back.args, back.code, vars(back)) == (str(error), error.args, error.code, vars(error))

    def test_a_copy_is_the_same_error(self, kind):
        error = example(kind)
        for back in (copy.copy(error), copy.deepcopy(error)):
            assert (type(back), str(back), vars(back)) == (kind, str(error), vars(error))

    def test_what_was_added_on_the_way_is_kept(self, kind):
        error = example(kind)
        error.add_note("in task 17")
        assert pickle.loads(pickle.dumps(error)).__notes__ == ["in task 17"]


def test_a_worker_process_hands_its_errors_to_the_caller():
    """An error that cannot be unpickled breaks the whole pool, and with it all other work."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for name in ("BudgetError", "StepError", "UnknownNameError", "RateLimitError"):
            with pytest.raises(getattr(errors, name)) as caught:
                pool.submit(fail_with, example(getattr(errors, name))).result()
            assert str(caught.value) == str(example(getattr(errors, name)))


def test_errors_of_other_packages_cross_too():
    class OddError(StepError):
        def __init__(self, first, second, third):
            super().__init__("odd", f"{first} {second} {third}")
            self.third = third

    globals()["OddError"] = OddError
    OddError.__qualname__ = "OddError"
    back = pickle.loads(pickle.dumps(OddError(1, 2, 3)))
    assert (str(back), back.code, back.third) == ("1 2 3", "odd", 3)


class TestTree:
    def test_every_code_is_one_stable_word(self):
        codes = {kind.__name__: example(kind).code for kind in KINDS}
        assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes.values()), codes

    def test_no_two_kinds_share_a_code(self):
        codes = [kind.code for kind in KINDS if kind not in {FetchError, StepError}]
        assert len(set(codes)) == len(codes)

    def test_the_drawing_shows_every_kind_under_its_parent(self):
        lines = [line for line in errors.__doc__.splitlines() if re.match(r"[ │]*[├└]── ", line)]
        parents, drawn = {0: "MasError"}, {}
        for line in lines:
            indent, name = re.match(r"([ │]*)[├└]── (\w+)", line).groups()
            depth = len(indent) // 4
            parents[depth] = name
            drawn[name] = parents[depth - 1] if depth > 1 else "MasError"
        assert drawn == {kind.__name__: kind.__base__.__name__ for kind in KINDS if kind is not MasError}

    def test_a_full_window_is_no_broken_service(self):
        assert not issubclass(ContextOverflowError, EndpointError)
        assert issubclass(ContextOverflowError, CallError)

    def test_wrong_usage_is_never_a_failed_call(self):
        assert not any(issubclass(kind, UsageError) and issubclass(kind, CallError) for kind in KINDS)

    def test_a_failed_call_without_details_cost_nothing(self):
        error = RateLimitError("429")
        assert (error.usage, error.requests, error.status, error.endpoint) == (Usage(), 1, None, "")


class TestMessages:
    def test_an_unknown_name_lists_the_known_ones_in_order_and_the_nearest(self):
        message = str(UnknownNameError("sub-agent", "cotagent", {"SCAgent", "CoTAgent", "DebateAgent"}))
        assert message == (
            "unknown sub-agent 'cotagent'. Did you mean 'CoTAgent'? Known: CoTAgent, DebateAgent, SCAgent."
        )

    def test_an_unknown_name_without_a_near_one_guesses_nothing(self):
        assert "Did you mean" not in str(UnknownNameError("profile", "zzz", ["weak", "strong"]))

    def test_an_empty_registry_says_so(self):
        assert str(UnknownNameError("profile", "x", [])) == "unknown profile 'x'. Known: none."

    def test_known_names_may_be_a_generator(self):
        assert "Did you mean 'weak'? Known: strong, weak." in str(
            UnknownNameError("profile", "week", (name for name in ("weak", "strong")))
        )

    def test_a_missing_extra_gives_a_command_that_a_shell_takes_as_it_is(self):
        assert str(MissingExtraError("training", "train")).endswith("pip install 'mas-orchestra[train]'")


class TestNearest:
    @pytest.mark.parametrize(
        ("name", "known", "expected"),
        [
            ("slot", ["slots", "threads"], "slots"),
            ("SLOTS", ["slots"], "slots"),
            ("reqests_per_minute", ["requests_per_minute", "tokens_per_minute"], "requests_per_minute"),
            ("x", ["slots"], None),
            ("", ["slots"], None),
            ("slots", [], None),
        ],
    )
    def test_examples(self, name, known, expected):
        assert nearest(name, known) == expected

    @given(st.text(min_size=1, max_size=12), st.lists(st.text(max_size=12), max_size=6))
    def test_it_gives_back_one_of_the_known_names_or_none(self, name, known):
        assert nearest(name, known) in {None, *known}

    @given(st.text(st.characters(codec="ascii"), min_size=1, max_size=12), st.lists(st.text(max_size=12), max_size=6))
    def test_a_name_that_is_known_but_for_letter_case_is_found(self, name, others):
        found = nearest(name.swapcase(), [*others, name])
        assert found is not None
        assert found.lower() == name.lower()
