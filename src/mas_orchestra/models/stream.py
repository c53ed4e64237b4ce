"""A streamed completion, put together from its pieces."""

from dataclasses import dataclass, field

import orjson

from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.models.reply import Reply, Unreadable, finish_reason, is_object, read_json, read_usage, split_content
from mas_orchestra.types import JsonObject, JsonValue, ToolCall, Usage

__all__ = ["Assembly", "EventSplitter"]


class EventSplitter:
    """Cuts server-sent events out of the bytes as they come; the work is linear in the bytes, however they are cut."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._searched = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads of the ``data:`` lines that `data` completes. One line is one payload, as all endpoints send."""
        self._rest += data
        end = self._rest.rfind(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._rest)
            return []
        lines = bytes(self._rest[:end]).split(b"\n")
        del self._rest[: end + 1]
        self._searched = len(self._rest)
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]

    def rest(self) -> list[bytes]:
        """A last payload whose line was never ended."""
        return self.feed(b"\n")


@dataclass(slots=True)
class _CallPieces:
    identity: str
    name: str
    arguments: list[str] = field(default_factory=list)

    def is_complete(self) -> bool:
        return self.arguments[-1].rstrip().endswith("}") and _is_json("".join(self.arguments))


@dataclass(slots=True)
class _ChoicePieces:
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[_CallPieces] = field(default_factory=list)
    open_calls: dict[JsonValue, _CallPieces] = field(default_factory=dict)
    is_mixed: bool = False
    finish: JsonValue = None
    refusal: list[str] = field(default_factory=list)


class Assembly:
    """Choices that grow with every piece.

    Attributes:
        is_done: The endpoint said ``[DONE]``.
        error: An error that the endpoint sent in place of a piece.
    """

    def __init__(self) -> None:
        self._choices: dict[int, _ChoicePieces] = {}
        self._usage: Usage | None = None
        self._model = ""
        self.is_done = False
        self.error: JsonObject | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing: the end was announced, or every choice says why it stopped."""
        return bool(self._choices) and (self.is_done or all(each.finish is not None for each in self._choices.values()))

    def add(self, payload: bytes) -> None:
        """Take one payload.

        Raises:
            Unreadable: It is no piece of a completion.
        """
        if payload == b"[DONE]":
            self.is_done = True
            return
        if not payload:
            return
        piece = read_json(payload)
        if not is_object(piece):
            raise Unreadable(f"a piece of the stream is a {type(piece).__name__}")
        if is_object(piece.get("error")):
            self.error = piece
            return
        self._usage = read_usage(piece.get("usage")) or self._usage
        model = piece.get("model")
        self._model = model if isinstance(model, str) and model else self._model
        choices = piece.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            self._add_choice(choice)

    def _add_choice(self, choice: JsonValue) -> None:
        if not is_object(choice):
            raise Unreadable("a streamed choice is no object")
        index = choice.get("index")
        pieces = self._choices.setdefault(index if isinstance(index, int) else 0, _ChoicePieces())
        pieces.finish = choice.get("finish_reason") or pieces.finish
        delta = choice.get("delta")
        if not is_object(delta):
            return
        text, thoughts = split_content(delta.get("content"))
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        refusal = delta.get("refusal")
        pieces.content.append(text)
        pieces.reasoning.append(reasoning if isinstance(reasoning, str) else thoughts)
        pieces.refusal.append(refusal if isinstance(refusal, str) else "")
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            _add_call(pieces, call)

    def reply(self) -> Reply:
        """What the pieces make, so far.

        Raises:
            Unreadable: Pieces of several tool calls were mixed so that they cannot be told apart.
        """
        return Reply(
            choices=tuple(_whole(self._choices[index]) for index in sorted(self._choices)),
            usage=self._usage,
            model=self._model,
        )

    def partial(self) -> tuple[tuple[Choice, ...], Usage | None]:
        """Texts and usage that came before a stream broke, to book what it cost."""
        choices = tuple(
            Choice(content="".join(each.content), reasoning="".join(each.reasoning)) for each in self._choices.values()
        )
        return choices, self._usage


def _add_call(pieces: _ChoicePieces, call: JsonValue) -> None:
    """Put a piece to the call it belongs to: by index, by id where one slot holds several, else to the open one."""
    if not is_object(call):
        raise Unreadable("a streamed tool call is no object")
    function = call.get("function")
    function = function if is_object(function) else {}
    slot, identity, name = call.get("index"), _text(call.get("id")), _text(function.get("name"))
    known = next((other for other in pieces.calls if identity and other.identity == identity), None)
    if known is None:
        known = pieces.open_calls.get(slot) or (pieces.calls[-1] if pieces.calls and not (identity or name) else None)
    if known is None or _begins_another(known, identity, name, pieces):
        known = _CallPieces(identity=identity, name=name)
        pieces.calls.append(known)
    pieces.open_calls[slot] = known
    known.identity, known.name = known.identity or identity, known.name or name
    arguments = function.get("arguments")
    if arguments is not None:
        known.arguments.append(arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode())


def _begins_another(known: _CallPieces, identity: str, name: str, pieces: _ChoicePieces) -> bool:
    """Whether a piece opens a new call in a slot that already holds one."""
    if identity and known.identity and identity != known.identity:
        return True
    if not name or (identity and identity == known.identity):
        return False
    if known.arguments and known.is_complete():
        return True
    # A name again before the arguments are whole: a repetition, or another call on top. The result will tell.
    pieces.is_mixed = pieces.is_mixed or bool(known.name)
    return False


def _whole(pieces: _ChoicePieces) -> Choice:
    content, refusal = "".join(pieces.content), "".join(pieces.refusal)
    reason = finish_reason(pieces.finish)
    calls = tuple(
        ToolCall(
            id=call.identity or f"call_{number}", name=call.name, arguments="".join(call.arguments).strip() or "{}"
        )
        for number, call in enumerate(pieces.calls, start=1)
    )
    suspect = pieces.is_mixed or None in pieces.open_calls or any(not call.name for call in calls)
    if (
        suspect
        and reason is not FinishReason.LENGTH
        and not all(call.name and _is_json(call.arguments) for call in calls)
    ):
        raise Unreadable(f"pieces of {max(2, len(calls))} tool calls came mixed, with nothing that tells them apart")
    if refusal and not content:
        content, reason = refusal, FinishReason.CONTENT_FILTER
    return Choice(content=content, reasoning="".join(pieces.reasoning), tool_calls=calls, finish_reason=reason)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
