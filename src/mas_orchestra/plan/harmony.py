"""Finds what a harmony reply (gpt-oss) says outside its reasoning: the final channel or commentary tool calls.

Both spellings of a recipient are read: ``<|start|>assistant to=functions.NAME<|channel|>commentary`` and
``<|channel|>commentary to=functions.NAME``. The header may also come without its special tokens
(``analysis … assistantfinal …``), as servers that strip them leave it.
"""

import re
from dataclasses import dataclass

__all__ = ["Message", "is_harmony", "messages"]

_BEGIN = re.compile(r"\s*(?:assistant\s*)?<\|(?:start|channel|message)\|>")
_TOKEN = re.compile(r"<\|(start|message|end|return|call)\|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)")
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")
_BARE = re.compile(r"\s*analysis(?![a-z])|\s*analysis(?=[A-Z])")
_BARE_FINAL = re.compile(r"assistant\s*final")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: ``text[start:end]`` is its body.

    Attributes:
        recipient: Function that a tool call names, without ``functions.``; empty for prose.
        closed: False when the text ends inside it.
    """

    channel: str
    recipient: str
    start: int
    end: int
    closed: bool


def is_harmony(text: str) -> bool:
    """Whether `text` is a raw harmony reply rather than text that speaks of one."""
    return _BEGIN.match(text) is not None or (_BARE.match(text) is not None and _BARE_FINAL.search(text) is not None)


def messages(text: str) -> tuple[Message, ...]:
    """Every message of a harmony reply in order."""
    if _BEGIN.match(text) is None:
        return _bare(text)
    found: list[Message] = []
    header_start, body_start, header = 0, None, ""
    for match in _TOKEN.finditer(text):
        if body_start is not None and match[1] != "message":
            found.append(_message(header, body_start, match.start(), closed=True))
            body_start, header_start = None, match.start()
        elif body_start is None and match[1] == "message":
            header, body_start = text[header_start : match.start()], match.end()
    if body_start is not None:
        found.append(_message(header, body_start, len(text), closed=False))
    return tuple(found)


def _message(header: str, start: int, end: int, *, closed: bool) -> Message:
    channel = _CHANNEL.search(header)
    recipient = _RECIPIENT.search(header)
    return Message(
        channel=channel[1] if channel else "final",
        recipient=recipient[1].removeprefix("functions.") if recipient else "",
        start=start,
        end=end,
        closed=closed,
    )


def _bare(text: str) -> tuple[Message, ...]:
    """The part behind the last ``assistant final``, as the paper's reader cuts it."""
    start = max(match.end() for match in _BARE_FINAL.finditer(text))
    return (Message(channel="final", recipient="", start=start, end=len(text), closed=False),)
