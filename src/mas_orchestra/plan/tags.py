"""Finds the tags of the xml format: one pass, no recursion, and anything that is not a known tag is text.

Text that a model writes is not XML: ``3<n & n<10`` and ``AT&T`` stay as they are. Where a block ends is decided on the
list of known tags alone, so the cost is linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

__all__ = ["REASONING", "Tag", "TagList", "escape", "unescape"]

REASONING = ("think", "thinking")
_BLOCKS = frozenset({"agent", "edge", *REASONING})
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#x([0-9a-fA-F]{1,6}));")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class Tag(NamedTuple):
    """One known tag; ``text[start:end]`` is the tag itself."""

    name: str
    closing: bool
    start: int
    end: int


class TagList:
    """The known tags of a text in order, with quick answers to "which is the next such tag"."""

    def __init__(self, text: str, names: Iterable[str], *, most: int) -> None:
        self.text = text
        found = islice(_pattern(frozenset(names)).finditer(text), most)
        self.tags = [Tag(match[2], bool(match[1]), match.start(), match.end()) for match in found]
        self.is_cut = len(self.tags) == most
        """Whether there may be more tags than were asked for."""

    @cached_property
    def _places(self) -> dict[tuple[str, bool], list[int]]:
        """Indices of all tags by name and kind; only text that is free to hold tags needs them."""
        places: dict[tuple[str, bool], list[int]] = {}
        for index, tag in enumerate(self.tags):
            places.setdefault((tag.name, tag.closing), []).append(index)
        return places

    @cached_property
    def _blocks(self) -> list[int]:
        return [index for index, tag in enumerate(self.tags) if tag.name in _BLOCKS]

    def __len__(self) -> int:
        return len(self.tags)

    def after(self, index: int, name: str, *, closing: bool) -> int | None:
        """Index of the first such tag behind the tag at `index`."""
        return _next(self._places.get((name, closing), []), index)

    def end_of_short(self, index: int) -> int | None:
        """Index of the tag that closes a name or an id: the very next tag, or ``None``."""
        opening = self.tags[index]
        following = self.tags[index + 1] if index + 1 < len(self.tags) else None
        closes = following is not None and following.closing and following.name == opening.name
        return index + 1 if closes else None

    def end_of_text(self, index: int) -> int | None:
        """Index of the tag that closes free text, or ``None`` when it is not closed.

        Free text may speak of tags. Its end is the last of the closing tags that follow one another without another
        known tag or only blanks between them. It is not closed when the same field of a later block begins first.
        """
        name = self.tags[index].name
        close = self.after(index, name, closing=True)
        if close is None:
            return None
        reopened = self.after(index, name, closing=False)
        if reopened is not None and reopened < close:
            block = _next(self._blocks, index)
            if block is not None and block < reopened:
                return None
        while self._closes_again(close, name):
            close += 1
        return close

    def _closes_again(self, index: int, name: str) -> bool:
        if index + 1 >= len(self.tags):
            return False
        tag, following = self.tags[index], self.tags[index + 1]
        again = following.closing and following.name == name
        return again and not self.text[tag.end : following.start].isspace() and following.start > tag.end


def unescape(text: str) -> str:
    r"""`text` with XML entities replaced; an ampersand that begins none stays.

    >>> unescape("AT&T &lt;b&gt; &#10;&#xD800; &copy;")
    'AT&T <b> \n&#xD800; &copy;'
    """
    return _ENTITY.sub(_character, text) if "&" in text else text


def escape(text: str) -> str:
    """`text` so that reading it as free text gives it back: markup escaped, blanks at both ends kept.

    >>> escape(" a<b ")
    '&#32;a&lt;b&#32;'
    """
    if text == '""':
        return "&quot;&quot;"
    body = text.strip()
    inner = body.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    before = text[: len(text) - len(text.lstrip())] if body else text
    behind = text[len(text.rstrip()) :] if body else ""
    return _blanks(before) + inner + _blanks(behind)


def _blanks(text: str) -> str:
    return "".join(f"&#{ord(character)};" for character in text)


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _NAMED[match[1]]
    code = int(match[2]) if match[2] else int(match[3], 16)
    is_character = code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else match[0]


def _next(places: list[int], index: int) -> int | None:
    position = bisect_right(places, index)
    return places[position] if position < len(places) else None


@lru_cache(maxsize=64)
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    alternatives = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"<(/?)({alternatives})\s*>")
