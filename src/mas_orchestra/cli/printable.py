"""Text of models, files and users made safe for a terminal.

A model's text may hold escape sequences that move the cursor, colour the terminal, rename its window or answer in the
user's name, and marks that reverse the reading direction. Whatever is drawn goes through here first.
"""

import re

__all__ = ["escape_json", "one_line", "printable"]

_SURROGATES = "\ud800-\udfff"
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_SEPARATORS = "\u2028\u2029"
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_DIRECTION}{_SEPARATORS}{_SURROGATES}]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{_DIRECTION}{_SEPARATORS}{_SURROGATES}]")


def printable(text: str) -> str:
    r"""`text` with line breaks and tabs kept, and every other control or direction mark shown as an escape.

    >>> print(printable("\x1b[31mred\r\nnext\u202e"))
    \x1b[31mred
    next\u202e
    """
    return _UNSAFE.sub(_visible, text.replace("\r\n", "\n"))


def one_line(text: str, *, limit: int = 400) -> str:
    r"""`text` as one printable line of at most `limit` characters, blanks and line breaks merged.

    >>> one_line("two\n\n  lines")
    'two lines'
    >>> one_line("a" * 10, limit=4)
    'aaa…'
    """
    merged = " ".join(printable(text[: 4 * limit]).split())
    is_cut = len(merged) > limit or len(text) > 4 * limit
    return merged[: limit - 1] + "…" if is_cut else merged


def escape_json(document: str) -> str:
    r"""A JSON document that means the same and is safe to show: what JSON leaves raw becomes an escape in its string.

    >>> escape_json('"\x9b2J"')
    '"\\u009b2J"'
    """
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", document)


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
