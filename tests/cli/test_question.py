"""A question comes by argument, stdin or file, and whatever is wrong with it is said before anything is asked."""

import io
import sys

import pytest

from mas_orchestra.cli.question import LONGEST_QUESTION_BYTES, read_question
from mas_orchestra.errors import UsageError


@pytest.fixture
def stdin(monkeypatch):
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("What is 6 times 7?", "What is 6 times 7?"),
        ("  spaces stay  ", "  spaces stay  "),
        ("{x : x>0} costs ${cost} \\frac{1}{2}", "{x : x>0} costs ${cost} \\frac{1}{2}"),
        ("最大的质数?\n", "最大的质数?"),
    ],
)
def test_a_typed_question_is_taken_word_for_word(typed, expected):
    assert read_question(typed, None) == expected


@pytest.mark.parametrize("data", [b"A\nB\n", "\ufeffA\nB\r\n".encode()])
def test_a_file_and_stdin_are_read_alike(data, tmp_path, stdin):
    file = tmp_path / "question.txt"
    file.write_bytes(data)
    stdin(data)

    assert read_question(None, file) == read_question("-", None) == "A\nB"


def test_a_question_of_a_megabyte_is_read(tmp_path):
    file = tmp_path / "long.txt"
    file.write_text("word " * 200_000, encoding="utf-8")

    assert len(read_question(None, file)) == 1_000_000


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "\t"])
def test_an_empty_question_is_refused(text, tmp_path, stdin):
    file = tmp_path / "empty.txt"
    file.write_text(text, encoding="utf-8")
    stdin(text.encode())

    for typed, path in ((text, None), ("-", None), (None, file)):
        with pytest.raises(UsageError, match="empty"):
            read_question(typed, path)


def test_text_in_another_encoding_names_the_byte_and_the_remedy(tmp_path):
    file = tmp_path / "latin.txt"
    file.write_bytes("naïve".encode("latin-1"))

    with pytest.raises(UsageError, match=r"latin\.txt is not UTF-8 text: byte 0xef at offset 2.*iconv"):
        read_question(None, file)


def test_an_argument_that_is_not_utf_8_is_refused():
    with pytest.raises(UsageError, match="character 4"):
        read_question(b"abc\xff".decode("utf-8", "surrogateescape"), None)


def test_a_huge_file_is_refused_without_reading_it_all(tmp_path):
    file = tmp_path / "huge.txt"
    with file.open("wb") as stream:
        stream.truncate(LONGEST_QUESTION_BYTES * 1000)

    with pytest.raises(UsageError, match="longer than 4 MiB"):
        read_question(None, file)


def test_neither_and_both_are_refused(tmp_path):
    with pytest.raises(UsageError, match="no question"):
        read_question(None, None)
    with pytest.raises(UsageError, match="not both"):
        read_question("a", tmp_path / "b")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "missing.txt", tmp_path):
        with pytest.raises(UsageError, match="cannot read the question from"):
            read_question(None, path)
