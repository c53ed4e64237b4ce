"""Reads JSON that a model wrote: one pass, no recursion, offsets kept, slips noted instead of refused.

Two slips have a repair (trailing commas, single quotes). Anything else is a `JsonFault`.
"""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = ["JsonArray", "JsonFault", "JsonTable", "JsonText", "parse", "plain"]

_MAX_DEPTH = 64
_MAX_DIGITS = 400

# Each alternative begins with a character of its own, and nothing read is given back (`*+`): linear on any input.
_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
        (?P<mark>[{}\[\]:,])
      | "(?P<text>[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"
      | '(?P<single>[^'\\\x00-\x1f]*+(?:\\.[^'\\\x00-\x1f]*+)*+)'
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z.])
      | (?P<word>true|false|null)\b
    )""",
    re.VERBOSE,
)
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"')
_BLANKS = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "null": None}


class JsonFault(Exception):  # noqa: N818  (a finding about a text, never leaves this package)
    """Text that is not JSON even leniently.

    Attributes:
        at: Offset of what cannot be read.
        keys: Keys of the outermost object that were read before.
    """

    def __init__(self, message: str, at: int, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.keys = keys


class JsonTable(dict[str, Any]):
    """An object: a dict that knows where it and its values stand in the text."""

    __slots__ = ("at", "places")

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at
        self.places: dict[str, int] = {}


class JsonArray(list[Any]):
    """An array: a list that knows where it and its items stand in the text."""

    __slots__ = ("at", "places")

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at
        self.places: list[int] = []


_Container: TypeAlias = JsonTable | JsonArray


@dataclass(slots=True)
class JsonText:
    """One value read from a text.

    Attributes:
        end: Offset just behind the value.
        slips: What was tolerated, as (message, offset).
    """

    value: Any
    end: int
    slips: list[tuple[str, int]]


def parse(text: str, at: int = 0) -> JsonText:
    """The JSON value that begins at offset `at`; whatever follows it is left alone.

    Raises:
        JsonFault: There is none.
    """
    reader = _Reader(text, at)
    try:
        return JsonText(reader.value(), reader.at, reader.slips)
    except JsonFault as fault:
        outermost = reader.open[0] if reader.open else None
        fault.keys = tuple(outermost) if isinstance(outermost, JsonTable) else ()
        raise


def plain(value: Any) -> Any:  # noqa: ANN401  (a JSON value in, a JSON value out)
    """`value` as plain dicts and lists; its depth is bounded by the reader."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


@dataclass(slots=True)
class _Reader:
    """A push-down reader: `open` holds the containers that are not closed yet."""

    text: str
    at: int
    slips: list[tuple[str, int]] = field(default_factory=list)
    open: list[_Container] = field(default_factory=list)
    token_at: int = 0

    def value(self) -> Any:  # noqa: ANN401  (JSON values have no narrower type)
        """The next value, whatever its depth."""
        finished = self._begin(self._token())
        while self.open:
            top = self.open[-1]
            finished = self._in_table(top) if isinstance(top, JsonTable) else self._in_array(top)
        return finished

    def _in_table(self, table: JsonTable) -> Any:  # noqa: ANN401  (a JSON value)
        """Read one member or the end of an object; gives back what was finished."""
        match = self._token()
        if match["mark"] == "}":
            return self._close()
        if table:
            self._expect(match, ",", "a comma or }")
            match = self._token()
            if match["mark"] == "}":
                self.slips.append(("a comma stands before the closing }.", self.token_at))
                return self._close()
        key = self._string(match)
        if key is None:
            raise self._unexpected(match, "a key in double quotes")
        if key in table:
            raise JsonFault(f"key {key!r} is given twice in one object; keep one of them.", self.token_at)
        self._expect(self._token(), ":", "a colon after the key")
        match = self._token()
        table.places[key] = self.token_at
        table[key] = self._begin(match)
        return table

    def _in_array(self, array: JsonArray) -> Any:  # noqa: ANN401  (a JSON value)
        """Read one item or the end of an array; gives back what was finished."""
        match = self._token()
        if match["mark"] == "]":
            return self._close()
        if array:
            self._expect(match, ",", "a comma or ]")
            match = self._token()
            if match["mark"] == "]":
                self.slips.append(("a comma stands before the closing ].", self.token_at))
                return self._close()
        array.places.append(self.token_at)
        array.append(self._begin(match))
        return array

    def _begin(self, match: re.Match[str]) -> Any:  # noqa: ANN401  (a JSON value)
        """The scalar at hand, or a new container that `open` now ends with."""
        mark = match["mark"]
        if mark is None:
            return self._scalar(match)
        if mark not in "{[":
            raise self._unexpected(match, "a value")
        if len(self.open) >= _MAX_DEPTH:
            raise JsonFault(f"JSON is nested deeper than {_MAX_DEPTH} levels; write it flatter.", self.token_at)
        container: _Container = JsonTable(self.token_at) if mark == "{" else JsonArray(self.token_at)
        self.open.append(container)
        return container

    def _close(self) -> _Container:
        return self.open.pop()

    def _scalar(self, match: re.Match[str]) -> Any:  # noqa: ANN401  (a JSON value)
        text = self._string(match)
        if text is not None:
            return text
        if match["word"]:
            return _WORDS[match["word"]]
        digits = match["number"]
        number = math.inf if len(digits) > _MAX_DIGITS else json.loads(digits)
        if isinstance(number, float) and not math.isfinite(number):
            raise JsonFault("this number is too large; write it as a string.", self.token_at)
        return number

    def _string(self, match: re.Match[str]) -> str | None:
        """The string at hand, or ``None`` where the token is none."""
        body = match["text"]
        if body is None:
            body = match["single"]
            if body is None:
                return None
            self.slips.append(("a string stands in single quotes; JSON wants double quotes.", self.token_at))
            body = _ESCAPE_OR_QUOTE.sub(_in_double_quotes, body)
        if "\\" not in body:
            return body
        try:
            text: str = json.loads(f'"{body}"')
        except ValueError:
            raise JsonFault("a backslash begins no JSON escape; write \\\\ for a backslash.", self.token_at) from None
        if _SURROGATE.search(text):
            raise JsonFault("an escape \\uD800…\\uDFFF stands alone; write the character itself.", self.token_at)
        return text

    def _token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise self._unreadable()
        self.at = match.end()
        self.token_at = match.start(match.lastgroup or 0) - (match.lastgroup in {"text", "single"})
        return match

    def _expect(self, match: re.Match[str], mark: str, accepted: str) -> None:
        if match["mark"] != mark:
            raise self._unexpected(match, accepted)

    def _unexpected(self, match: re.Match[str], accepted: str) -> JsonFault:
        found = match[match.lastgroup or 0][:20]
        return JsonFault(f"found {found!r} where {accepted} is due.", self.token_at)

    def _unreadable(self) -> JsonFault:
        at = _blanks_end(self.text, self.at)
        found = self.text[at : at + 1]
        if not found:
            return JsonFault("the text ends inside this JSON; close every string, [ and {.", at)
        if found in "\"'":
            return JsonFault("this string has no closing quote before the line ends (write a line break as \\n).", at)
        return JsonFault(f"found {found!r}, which begins no JSON value.", at)


def _in_double_quotes(match: re.Match[str]) -> str:
    """An escape or a double quote of a single-quoted string, as a double-quoted one has it."""
    return {'"': '\\"', "\\'": "'"}.get(match[0], match[0])


def _blanks_end(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
