"""Error replies: when to try again, what to quote, what is meant."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.models.failures import read_failure, read_retry_after, scrub
from mas_orchestra.models.overflow import read_overflow

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def read(status, body, **options):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_failure(status, data, **{"retry_after": None, "secrets": (), "key_source": "", **options})


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 12:00:30 -0000", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("inf", None),
        ("nan", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, seconds):
    assert read_retry_after(value, now=NOW) == seconds


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "told you", "type": "x"}},
        {"error": "told you"},
        {"message": "told you"},
        {"detail": "told you"},
        {"detail": [{"loc": ["body", "seed"], "msg": "told you"}]},
        [{"error": {"message": "told you"}}],
        {"object": "error", "message": "told you", "code": 400},
        b"told you",
        b"<html>told you</html>",
    ],
)
def test_the_message_is_found_in_any_form(body):
    assert "told you" in read(418, body).explanation


@given(st.binary(max_size=200), st.integers(300, 599))
def test_no_body_breaks_the_reading(body, status):
    assert read(status, body).explanation


KEYS = st.sampled_from(["error", "message", "code", "param", "detail", "msg", "loc"])
LEAVES = st.none() | st.integers() | st.text(max_size=9)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@given(TREES)
def test_no_json_breaks_the_reading(tree):
    assert read(400, tree).explanation


def test_secrets_are_taken_out_in_every_form():
    secret = "my-own-key-123456"
    text = scrub(
        f"key {secret} and {secret}, sk-abc123***xyz, gsk_abcdefgh1234, xai-0123456789, AIzaSyA1234", (secret, "")
    )
    assert text == "key *** and ***, ***, ***, ***, ***"


def test_ordinary_words_are_no_keys():
    assert scrub("risk-free key-value pk sk-", ()) == "risk-free key-value pk sk-"


def test_a_prompt_that_the_endpoint_repeats_is_not_searched_for_field_names():
    body = {"detail": [{"loc": ["body", "messages"], "msg": "unsupported role", "input": "n, seed and temperature"}]}
    assert read(422, body).refused_field is None


@pytest.mark.parametrize(
    ("note", "field"),
    [
        ("n must be 1", "n"),
        ("'n' is not supported", "n"),
        ("only one completion choice is allowed: n > 1 is not supported", "n"),
        ("this feature is not supported in a session", None),
        ("seed is not supported", "seed"),
        ("seed must be positive", None),
    ],
)
def test_the_field_that_is_not_supported(note, field):
    assert read(400, {"error": {"message": note}}).refused_field == field


@pytest.mark.parametrize(
    ("field", "error"),
    [
        ("response_format", {"message": "Invalid parameter", "param": "response_format.json_schema"}),
        ("response_format", {"message": "This model does not support response format `json_schema`."}),
        ("response_format", {"message": "This response_format type is unavailable now"}),
        ("response_format", {"message": "Structured outputs need another backend"}),
        ("schema", {"message": "Invalid schema for response_format 'plan': 'minLength' is not permitted."}),
        ("schema", {"message": "Failed to generate JSON. See 'failed_generation'.", "code": "json_validate_failed"}),
        ("schema", {"message": "The grammar could not be compiled"}),
        ("schema", {"message": "JSON schema conversion failed: Unrecognized schema: {}"}),
    ],
    ids=lambda value: value["message"][:30] if isinstance(value, dict) else value,
)
def test_whatever_is_wrong_with_a_schema_that_one_or_all_are_left_out(field, error):
    assert read(400, {"error": error}).refused_field == field
    assert read(422, {"error": error}).refused_field == field


@pytest.mark.parametrize(
    "text",
    ["maximum context length " * 50_000, "1" * 1_000_000, "max_new_tokens" + " " * 1_000_000, "sk-" * 300_000],
)
def test_hostile_text_of_a_megabyte_is_read_like_any_other(text):
    """Only the beginning is searched; a pattern that backtracks over all of it would not end within the time limit."""
    assert len(read(400, {"error": {"message": text}}).explanation) < 400
    read_overflow(text)
