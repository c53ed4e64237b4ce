r"""Reading a sub-agent's reply: named fields out of a text that is mostly, but not always, in the form asked for.

In this order, the first that gives the wanted field wins:

1. a JSON object, bare, in a code fence or after prose (the last one of several);
2. tags, as ``<answer>…</answer>``, the last ones; an unclosed tag ends with the text;
3. a line that begins with the field's name, as ``Answer: 42``;
4. for an answer only: ``\boxed{…}``, where all boxes agree;
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
    for fields in (
        _json_fields(text, names, may_repair=not cut_off),
        _tag_fields(text, wanted, others, cut_off=cut_off),
        None if cut_off else _line_field(text, wanted, others),
    ):
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


def _tag_fields(text: str, wanted: str, others: tuple[str, ...], *, cut_off: bool) -> dict[str, str] | None:
    fields = {}
    for name in (wanted, *others):
        opened = list(re.finditer(rf"<{name}\s*>", text, re.IGNORECASE))
        closed = list(re.finditer(rf"</{name}\s*>", text, re.IGNORECASE))
        value = _between(text, opened, closed, must_close=cut_off and name == wanted, names=(wanted, *others))
        if value:
            fields[name] = value
    if wanted not in fields and "thinking" in fields and not cut_off:
        _, closed_thinking, rest = text.rpartition("</thinking>")
        plain = _unmarked_answer(rest, cut_off=cut_off) if closed_thinking else None
        fields |= plain or {}
    return fields


def _between(
    text: str, opened: list[re.Match[str]], closed: list[re.Match[str]], *, must_close: bool, names: tuple[str, ...]
) -> str:
    """What the last closed pair encloses; else what follows an unclosed tag, up to another field's tag."""
    if closed:
        end = closed[-1].start()
        start = max((match.end() for match in opened if match.end() <= end), default=None)
        if start is None:
            before = re.split(rf"</?(?:{'|'.join(names)})\s*>", text[:end], flags=re.IGNORECASE)
            return before[-1].strip()
        return text[start:end].strip()
    if opened and not must_close:
        rest = text[opened[-1].end() :]
        return re.split(rf"</?(?:{'|'.join(names)})\s*>", rest, maxsplit=1, flags=re.IGNORECASE)[0].strip()
    return ""


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
    boxes = set(boxed(text))
    if len(boxes) == 1 and (box := boxes.pop()):
        return {"answer": box, "thinking": text}
    is_line = not boxes and "\n" not in text and len(text) <= LONGEST_LINE
    return {"answer": text} if text and not cut_off and (prose or is_line) else None


def _has_structure(text: str) -> bool:
    """Whether the text tried to give fields, so that it is no answer by itself."""
    return _OBJECT_START.search(text) is not None or re.search(r"</?(?:answer|thinking)\b", text) is not None
