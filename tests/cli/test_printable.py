"""Hostile text cannot move the cursor, colour the terminal or turn the reading direction."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.cli.printable import escape_json, one_line, printable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)
HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "cursor": "\x1b[2J\x1b[H",
    "window title": "\x1b]0;pwned\x07",
    "one-byte sequence": "\x9b2J",
    "backspace": "yes\b\b\bno ",
    "carriage return": "harmless\rrm -rf",
    "reversed": "\u202egnp.exe",
    "isolate": "\u2066a\u2069",
    "null": "a\x00b",
    "delete": "a\x7f",
    "lone surrogate": "\ud800",
    "line separator": "a\u2028b",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_becomes_visible(text):
    shown = printable(text)

    assert "\\x" in shown or "\\u" in shown
    assert all(unicodedata.category(mark) not in {"Cc", "Cs"} or mark in "\n\t" for mark in shown)


@pytest.mark.parametrize("text", ["两个\n步骤", "a\tb\nc", "naïve – “quoted” → ∑ 👩‍🔬", ""])
def test_ordinary_text_stays(text):
    assert printable(text) == text


def test_windows_line_breaks_are_line_breaks():
    assert printable("a\r\nb") == "a\nb"


@given(ANY_TEXT)
def test_whatever_comes_can_be_encoded_and_holds_no_control(text):
    shown = printable(text)

    shown.encode()
    assert not any(mark < " " and mark not in "\n\t" for mark in shown)
    assert printable(shown) == shown


@given(ANY_TEXT, st.integers(2, 50))
def test_one_line_is_one_short_line(text, limit):
    line = one_line(text, limit=limit)

    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_one_line_says_that_it_was_cut():
    assert one_line("word " * 1_000_000, limit=10) == "word word…"


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=5))
def test_escaped_json_means_the_same(value):
    document = json.dumps(value, ensure_ascii=False)
    escaped = escape_json(document)

    assert json.loads(escaped) == json.loads(document)
    assert printable(escaped) == escaped
