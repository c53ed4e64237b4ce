r"""Reading a sub-agent's reply: named fields out of a text that is mostly, but not always, in the form asked for.

In this order (tags first where a tag comes before any object), the first that gives the wanted field wins:

1. a JSON object, bare, in a code fence or after prose (the last one of several);
2. tags, as ``<answer>…</answer>``, the last ones; an unclosed tag ends with the text;
3. a line that begins with the field's name, as ``Answer: 42``;
4. for an answer only: ``\boxed{…}``, where all boxes agree (not in a reply that was cut off: it may be a draft);
5. for an answer only: a text of one line of at most 500 characters, which is its own answer.

Every step is linear in the length of the text.
"""

import json
import re
from dataclasses import dataclass

from mas_orchestra.agents.boxed import boxed

__all__ = ["Reply", "read_fields", "read_reply", "without_reasoning"]

MOST_OBJECTS = 8
LONGEST_LINE = 500
_OBJECT_START = re.compile(r'\{\s*"')
_LONE_BACKSLASH = re.compile(r'\\(["\\/bfnrtu])|\\')
# What JSON makes of LaTeX whose backslash was not doubled: \frac, \boxed, \text, \times, \right …
_BROKEN_LATEX = re.compile(r"\f(?=[a-z])|\x08(?=[a-z])|\t(?=ext|imes|heta|frac|riangle)|\r(?=ight|ho\b)")
_LATEX_LETTER = {"\f": "\\f", "\x08": "\\b", "\t": "\\t", "\r": "\\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply that could be read; `answer` is never empty."""

    answer: str
    thinking: str = ""


def read_reply(text: str, *, cut_off: bool = False, prose: bool = False) -> Reply | None:
    """The reply's thinking and answer, or ``None`` when there is no answer to be read.

    Args:
        text: What the model wrote, reasoning channels excluded.
        cut_off: The model stopped by length: only an answer that was closed counts, since half an answer is none.
        prose: A text without any structure is its own answer, however long.

    >>> read_reply('<thinking>7 times 6</thinking><answer>42')
    Reply(answer='42', thinking='7 times 6')
    >>> read_reply('<thinking>7 times 6</thinking><answer>4', cut_off=True) is None
    True
    """
    body = without_reasoning(text)
    fields = read_fields(body, "answer", others=("thinking",), cut_off=cut_off)
    if fields is None and not _has_structure(body):
        fields = _unmarked_answer(body, cut_off=cut_off, prose=prose)
    return None if fields is None else Reply(answer=fields["answer"], thinking=fields.get("thinking", ""))


def read_fields(text: str, wanted: str, *, others: tuple[str, ...], cut_off: bool = False) -> dict[str, str] | None:
    """The field `wanted`, never empty, and those of `others` that are there; ``None`` without it.

    >>> read_fields('{"feedback": "looks right", "correct": true}', "correct", others=("feedback",))
    {'correct': 'true', 'feedback': 'looks right'}
    """
    names = (wanted, *others)
    ways: list[dict[str, str] | None] = [
        _json_fields(text, names, may_repair=not cut_off),
        _tag_fields(text, names, cut_off=cut_off),
    ]
    if _begins_with_tags(text, names):  # an object inside a tag is a draft or an example
        ways.reverse()
    if not cut_off:
        ways.append(_line_field(text, wanted, others))
    for fields in ways:
        if fields and fields.get(wanted, "").strip(" .…"):  # dots are the format's example, copied
            return {name: fields[name] for name in names if name in fields}
    return None


def without_reasoning(text: str) -> str:
    """The text after a ``<think>`` block that the endpoint left in it; empty when that block never ends.

    >>> without_reasoning("so far so good</think> 42")
    ' 42'
    """
    head, closed, tail = text.rpartition("</think>")
    if text.lstrip().startswith("<think>"):
        return tail if closed else ""
    return tail if closed and "{" not in head else text


def _json_fields(text: str, names: tuple[str, ...], *, may_repair: bool) -> dict[str, str] | None:
    found = None
    position = 0
    for _ in range(MOST_OBJECTS):
        start = _OBJECT_START.search(text, position)
        if start is None:
            break
        value, length = _decode(text[start.start() :], may_repair=may_repair)
        position = start.start() + length
        fields = {key.strip().lower(): _as_text(item) for key, item in value.items()} if value else {}
        found = fields if names[0] in fields else found
    return found


def _decode(text: str, *, may_repair: bool) -> tuple[dict[str, object] | None, int]:
    """The object at the start of the text, and how much of it to skip."""
    decoder = json.JSONDecoder(strict=False)
    candidates = [text, _LONE_BACKSLASH.sub(lambda match: match.group() if match[1] else "\\\\", text)]
    if may_repair:
        candidates.append(candidates[1] + "}")
    for candidate in candidates:
        try:
            value, length = decoder.raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return value, length if candidate is text else len(text)
    return None, 1


def _as_text(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _BROKEN_LATEX.sub(lambda match: _LATEX_LETTER[match.group()], text).strip()


def _tag_fields(text: str, names: tuple[str, ...], *, cut_off: bool) -> dict[str, str] | None:
    tags = _tags(text, names)
    fields = {}
    for name in names:
        must_close = cut_off and name == names[0]
        start, end = _span(tags, name, length=len(text), must_close=must_close)
        if value := text[start:end].strip():
            fields[name] = value
    closed = [tag.end() for tag in tags if tag[1]]
    if names[0] not in fields and fields and closed:  # <thinking>…</thinking>, and then the answer without a tag
        fields = (_unmarked_answer(text[closed[-1] :], cut_off=cut_off) or {}) | fields
    return fields


def _tags(text: str, names: tuple[str, ...]) -> list[re.Match[str]]:
    """Opening and closing tags of these names in order; group 1 is the slash, group 2 the name."""
    return list(re.finditer(rf"<(/?)({'|'.join(names)})\s*>", text, re.IGNORECASE))


def _span(tags: list[re.Match[str]], name: str, *, length: int, must_close: bool) -> tuple[int, int]:
    """Where the last closed pair of a tag has its text; else the text after an unclosed one, up to the next tag."""
    own = [tag for tag in tags if tag[2].lower() == name]
    closing = [tag for tag in own if tag[1]]
    opening = [tag for tag in own if not tag[1]]
    if closing:
        end = closing[-1].start()
        before = [tag for tag in opening if tag.end() <= end] or [tag for tag in tags if tag.end() <= end]
        return (before[-1].end() if before else 0), end
    if opening and not must_close:
        start = opening[-1].end()
        return start, min((tag.start() for tag in tags if tag.start() >= start), default=length)
    return 0, 0


def _line_field(text: str, wanted: str, others: tuple[str, ...]) -> dict[str, str] | None:
    """The last line such as ``**Final answer:** 42``, or a last line such as ``So the answer is 42.``."""
    label = re.compile(
        rf"[\W_]*(?:(?:so|thus|therefore|hence|the|my|final)\b[\s,]*){{0,4}}{wanted}[*_]*(?:\s?([:=：])|\s+is\b)(.*)",
        re.IGNORECASE,
    )
    lines = text.strip().splitlines()
    for number in range(len(lines) - 1, -1, -1):
        match = label.fullmatch(lines[number])
        if match and (match[1] or number == len(lines) - 1):
            return {wanted: _line_value(match[2], lines[number + 1 :]), others[0]: "\n".join(lines[:number]).strip()}
    return None


def _line_value(value: str, following: list[str]) -> str:
    """What stands on the line; the lines that follow belong to it if it is empty or if they hold boxes."""
    value = value.strip(" \t:*_`")
    rest = "\n".join(following).strip()
    return f"{value}\n{rest}".strip() if not value or "\\boxed" in rest else value


def _unmarked_answer(text: str, *, cut_off: bool, prose: bool = False) -> dict[str, str] | None:
    text = text.strip()
    if not text or cut_off:
        return None
    boxes = set(boxed(text))
    if len(boxes) == 1 and (box := boxes.pop()):
        return {"answer": box, "thinking": text}
    is_line = not boxes and "\n" not in text and len(text) <= LONGEST_LINE
    return {"answer": text} if prose or is_line else None


def _begins_with_tags(text: str, names: tuple[str, ...]) -> bool:
    tags, brace = _tags(text, names), _OBJECT_START.search(text)
    return bool(tags) and (brace is None or tags[0].start() < brace.start())


def _has_structure(text: str) -> bool:
    """Whether the text tried to give fields, so that it is no answer by itself."""
    return _OBJECT_START.search(text) is not None or re.search(r"</?(?:answer|thinking)\b", text) is not None
