"""The question of a command: typed, piped in, or in a file."""

import sys
from pathlib import Path
from typing import BinaryIO

from mas_orchestra.cli.boundary import complain
from mas_orchestra.errors import UsageError

__all__ = ["LONGEST_QUESTION_BYTES", "read_question"]

LONGEST_QUESTION_BYTES = 4 * 1024 * 1024
"""Beyond any model's context window; a larger text is a wrong file rather than a question."""


def read_question(typed: str | None, file: Path | None) -> str:
    """The question, word for word but for line breaks at its end.

    Args:
        typed: What was typed, or ``-`` for stdin.
        file: A file that holds it instead.

    Raises:
        UsageError: Not exactly one of the two, unreadable, not UTF-8, empty or too long.
    """
    if typed is not None and file is not None:
        raise UsageError("give the question either as an argument or with --file, not both")
    if file is not None:
        text = _read_file(file)
    elif typed == "-":
        if sys.stdin.isatty():
            complain("Type the question; end it with Ctrl-D on a line of its own.")
        text = _decoded(_read(sys.stdin.buffer, "stdin"), "stdin")
    elif typed is not None:
        text = _checked_argument(typed)
    else:
        raise UsageError('no question: give it as in mas solve "QUESTION", or - to read stdin, or --file FILE')
    if not text.strip():
        raise UsageError("the question is empty")
    return text.rstrip("\r\n")


def _read_file(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return _decoded(_read(stream, str(file)), str(file))
    except OSError as error:
        raise UsageError(f"cannot read the question from {file}: {error.strerror or error}") from None


def _read(stream: BinaryIO, place: str) -> bytes:
    data = stream.read(LONGEST_QUESTION_BYTES + 1)
    if len(data) > LONGEST_QUESTION_BYTES:
        raise UsageError(
            f"the question in {place} is longer than {LONGEST_QUESTION_BYTES // 1024**2} MiB, "
            "more than any model reads; shorten it, or give documents with --corpus"
        )
    return data


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the question in {place} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}; "
            "convert it, as with: iconv -f LATIN1 -t UTF-8"
        ) from None


def _checked_argument(text: str) -> str:
    """An argument whose bytes were not UTF-8 arrives with lone surrogates in their place."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"the question is not UTF-8 text at character {error.start + 1}; "
            "write it to a file in UTF-8 and give it with --file"
        ) from None
    return text
