"""Bodies of many flavours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.models.base import FinishReason
from mas_orchestra.models.reply import Unreadable, finish_reason, read_json, read_reply, read_usage
from mas_orchestra.types import ToolCall, Usage
from support.endpoint import completion, message


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (
            {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
            Usage(input_tokens=100, output_tokens=20),
        ),
        (
            {"prompt_tokens": 262_960, "completion_tokens": 1_744, "prompt_tokens_details": {"cached_tokens": 257_955}},
            Usage(input_tokens=5_005, cache_read_tokens=257_955, output_tokens=1_744),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 1,
            },
            Usage(input_tokens=36, cache_read_tokens=64, output_tokens=20),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "cache_read_input_tokens": 60,
                "cache_creation_input_tokens": 30,
            },
            Usage(input_tokens=10, cache_read_tokens=60, cache_write_tokens=30, output_tokens=20),
        ),
        (  # the cached part beside the prompt instead of inside it
            {"prompt_tokens": 10, "completion_tokens": 20, "cache_read_input_tokens": 600, "total_tokens": 630},
            Usage(input_tokens=10, cache_read_tokens=600, output_tokens=20),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 40}},
            Usage(input_tokens=10, output_tokens=50, reasoning_tokens=40),
        ),
        (  # reasoning billed in the total only
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 115},
            Usage(input_tokens=10, output_tokens=105, reasoning_tokens=100),
        ),
        ({"completion_tokens": 37}, Usage(output_tokens=37)),
        (None, None),
        ("30", None),
        ({}, None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": -3, "completion_tokens": True}, None),
        ({"prompt_tokens": 5, "prompt_tokens_details": None}, Usage(input_tokens=5)),
    ],
)
def test_usage_is_read_into_disjoint_buckets(reported, usage):
    assert read_usage(reported) == usage


CACHED = st.sampled_from(["cached_tokens", "cache_creation_tokens"])
COUNTS = st.integers(-5, 10**9) | st.none() | st.booleans() | st.text(max_size=3)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "prompt_tokens": COUNTS,
            "completion_tokens": COUNTS,
            "total_tokens": COUNTS,
            "prompt_cache_hit_tokens": COUNTS,
            "prompt_tokens_details": st.dictionaries(
                st.sampled_from(["cached_tokens", "cache_creation_tokens"]), COUNTS
            ),
            "completion_tokens_details": st.dictionaries(st.just("reasoning_tokens"), COUNTS),
        },
    )
)
def test_no_reported_usage_makes_a_negative_bucket(reported):
    usage = read_usage(reported)
    if usage is not None:
        buckets = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
        assert min(buckets) >= 0
        assert 0 <= usage.reasoning_tokens <= usage.output_tokens


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("stop", FinishReason.STOP),
        ("STOP", FinishReason.STOP),
        ("end_turn", FinishReason.STOP),
        ("length", FinishReason.LENGTH),
        ("MAX_TOKENS", FinishReason.LENGTH),
        ("tool_calls", FinishReason.TOOL_CALLS),
        ("function_call", FinishReason.TOOL_CALLS),
        ("content_filter", FinishReason.CONTENT_FILTER),
        ("SAFETY", FinishReason.CONTENT_FILTER),
        ("something new", FinishReason.UNKNOWN),
        (None, FinishReason.UNKNOWN),
        (3, FinishReason.UNKNOWN),
    ],
)
def test_finish_reasons_are_mapped(word, reason):
    assert finish_reason(word) is reason


@pytest.mark.parametrize(
    ("content", "text", "thoughts"),
    [
        ("42", "42", ""),
        (None, "", ""),
        ([{"type": "text", "text": "4"}, {"type": "text", "text": "2"}], "42", ""),
        (
            [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "42"}],
            "42",
            "hm",
        ),
        ([{"type": "thinking", "thinking": "hm"}, "42"], "42", "hm"),
    ],
)
def test_content_in_any_form(content, text, thoughts):
    choice = read_reply(completion(message(content))).choices[0]
    assert (choice.content, choice.reasoning) == (text, thoughts)


def test_choices_come_in_the_order_of_their_index():
    body = completion(message("a"), message("b"))
    body["choices"].reverse()
    assert [choice.content for choice in read_reply(body).choices] == ["a", "b"]


def test_tool_calls_in_any_form():
    calls = [
        {"id": "x", "type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}},
        {"function": {"name": "search", "arguments": {"q": 2}}},
        {"function": {"name": "now"}},
    ]
    found = read_reply(completion(message(None, tool_calls=calls), finish="tool_calls")).choices[0].tool_calls
    assert found == (
        ToolCall(id="x", name="search", arguments='{"q": 1}'),
        ToolCall(id="call_2", name="search", arguments='{"q":2}'),
        ToolCall(id="call_3", name="now", arguments="{}"),
    )


def test_a_refusal_is_no_stop():
    choice = read_reply(completion(message(None, refusal="I cannot."))).choices[0]
    assert (choice.content, choice.finish_reason) == ("I cannot.", FinishReason.CONTENT_FILTER)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        completion(message(3)),
        completion(message("", tool_calls="x")),
        completion(message("", tool_calls=[{"function": {}}])),
        completion(message("", tool_calls=[None])),
    ],
)
def test_what_is_no_completion_says_why(body):
    with pytest.raises(Unreadable, match=r"\w"):
        read_reply(body)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "half a pair: \\ud83d"}', {"a": "half a pair: ?"}),
        (b'{"a": "cut \xc3"}', {"a": "cut \ufffd"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ],
)
def test_characters_that_are_none_do_not_lose_a_reply(data, value):
    assert read_json(data) == value


def test_numbers_that_are_none_do_not_lose_a_reply():
    assert read_json(b'{"a": 1, "logprob": -Infinity}')["a"] == 1


@pytest.mark.parametrize("data", [b"", b"{", b"nul", b"[" * 100_000, b"9" * 10_000 + b"x"])
def test_what_is_no_json_says_so(data):
    with pytest.raises(Unreadable, match="not JSON"):
        read_json(data)
