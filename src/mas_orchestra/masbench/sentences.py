"""A text cut into sentences, each with the line where it starts; linear in its length whatever it holds.

Line breaks of the published examples come from a PDF and mean little: a line that stops inside a sentence of our
family goes on in the next one. A full stop ends a sentence only before a blank, a capital letter or the end, and not
after an abbreviation or the number of a list, so that "St. Louis Zoo" stays whole and "again.One of" (as published)
is cut.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mas_orchestra.errors import FileFormatError

__all__ = ["OPENERS", "Sentence", "UnreadableTextError", "sentences"]

OPENERS = (
    "The number of ",
    "How many ",
    "What is ",
    "Using the result ",
    "One of the special magic number",
    "The special magic number",
    "From the passage",
)
"""How a sentence of the family begins; the only ones that may run over a line break."""

_OPENER = re.compile(r"\s{0,8}(?:" + "|".join(re.escape(opener) for opener in OPENERS) + r"|Note:|Problem \d)")
_HEADER = re.compile(r"Problem \d{1,6}:")
_MARKER = re.compile(r"(?:[-*•]|[\[(]?(?:Statement |Fact |Question |Q|S)?\d{1,6}[\].):]{1,2}) ")
_END = re.compile(r"[.?!](?=\s|[A-Z]|$)")
_WORD = re.compile(r"[^\W_]")
_ELLIPSIS = re.compile(r"\.{3,}|…")
_ABBREVIATIONS = frozenset({"St", "Dr", "Mr", "Mrs", "Ms", "Mt", "Ft", "Prof", "Jr", "Sr", "vs"})
_UNFINISHED = frozenset({"equals", "each", "and", "of", "than", "more", "times", "as", "much", "the", "sum"})
_ROMAN = frozenset("IVX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence, blanks collapsed; `line` counts from 1."""

    text: str
    line: int


class UnreadableTextError(FileFormatError):
    """The text is not of this family; carries the first line that could not be read."""

    code = "unreadable_text"

    def __init__(self, message: str, sentence: Sentence) -> None:
        shown = sentence.text if len(sentence.text) <= 160 else sentence.text[:157] + "..."
        super().__init__(f"line {sentence.line}: {message}: {shown!r}")
        self.line = sentence.line
        self.sentence = sentence.text


def sentences(text: str) -> Iterator[Sentence]:
    r"""Every sentence in order; headings and list entries count as sentences, so does an ellipsis; rules do not.

    >>> [sentence.text for sentence in sentences("How many B does\nA have? It is 3.5 m.There we go.")]
    ['How many B does A have?', 'It is 3.5 m.', 'There we go.']
    """
    parts: list[str] = []
    start, is_listed = 0, False
    for number, line in enumerate(text.replace("’", "'").split("\n"), start=1):
        pieces = _split_line(f"{_carried_word(parts, is_listed=is_listed)} {line}")
        if parts and (not pieces or pieces[0].is_new):
            yield Sentence(text=" ".join(parts), line=start)
            parts = []
        for piece in pieces:
            if not parts:
                start, is_listed = number, piece.is_marked
            parts.append(piece.text)
            if not (piece.ends_line and _runs_on(parts[0], piece.text)):
                yield Sentence(text=" ".join(parts), line=start)
                parts = []
    if parts:
        yield Sentence(text=" ".join(parts), line=start)


def _carried_word(parts: list[str], *, is_listed: bool) -> str:
    """Takes the last word off an open sentence when a number that begins the next line belongs to it.

    Outside a list "Caudal Vertebrae" and the "1." below it are one name; in a list, and after a number, "2." is a mark.
    """
    if not parts:
        return ""
    rest, _, word = parts[-1].rpartition(" ")
    if word not in _UNFINISHED and (is_listed or word[-1].isdigit()):
        return ""
    parts[-1:] = [rest] if rest else []
    return word


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """What stands between two ends on one line.

    Attributes:
        is_marked: It had the mark of a list.
        is_new: It cannot belong to the line before.
    """

    text: str
    is_marked: bool
    is_new: bool
    ends_line: bool = False


def _split_line(line: str) -> list[_Piece]:
    line = " ".join(line.split())
    texts = []
    start = 0
    for match in _END.finditer(line):
        if _ends_sentence(line, start, match.start()):
            texts.append(line[start : match.end()])
            start = match.end()
    texts.append(line[start:])
    pieces = [piece for text in texts for piece in _without_marks(text.strip())]
    return [replace(piece, ends_line=True) if piece is pieces[-1] else piece for piece in pieces]


def _without_marks(text: str) -> list[_Piece]:
    """The sentence without the mark of its list; a header "Problem 2:" stands alone."""
    mark = _MARKER.match(text)
    text = text[mark.end() :] if mark else text
    header = _HEADER.match(text)
    parts = [header[0], text[header.end() :].strip()] if header else [text]
    return [
        _Piece(text=part, is_marked=mark is not None, is_new=mark is not None or _OPENER.match(part) is not None)
        for part in parts
        if _WORD.search(part) or _ELLIPSIS.fullmatch(part)
    ]


def _ends_sentence(line: str, start: int, stop: int) -> bool:
    """Whether the mark at `stop` ends the sentence that began at `start`."""
    if _OPENER.match(line, stop + 1):
        return not line[start:stop].strip().isdigit()
    if line[stop] != "." or stop + 1 >= len(line):
        return True
    if stop - start <= 8 and line[start:stop].strip().lstrip("(").isdigit():
        return False
    # Names are far longer than this window; a wider one would make a line of full stops quadratic.
    word = line[max(start, stop - 6) : stop].rpartition(" ")[2]
    is_initial = len(word) == 1 and word.isupper() and word not in _ROMAN
    return not (is_initial or word in _ABBREVIATIONS)


def _runs_on(first: str, last: str) -> bool:
    """Whether a sentence that began with `first` is still open after `last`, the end of a line."""
    if last[-1] in ".?!":
        return False
    return any(first.startswith(opener) or (opener.startswith(first) and len(first) >= 3) for opener in OPENERS)
