"""Reads JSON values as plans: the ``json`` format, and the ``tools`` format of one message's tool calls."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.draft import DraftEdge, DraftStep
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.jsontext import JsonArray, JsonFault, JsonTable, parse, plain
from mas_orchestra.plan.names import undoubled
from mas_orchestra.plan.report import FaultCode, PlanFormat

__all__ = ["ANSWER_TOOL", "JsonPlans", "format_of", "report_slips"]

ANSWER_TOOL = "answer"
_PLAN_KEYS = ("steps", "edges", "answer", "thinking")
_STEP_KEYS = frozenset({"id", "agent", "description", "input", "arguments"})
_CALL_ARGUMENTS = ("arguments", "parameters")
_WRAPPERS = frozenset({"json_input", "parameters", "arguments", "input", "plan"})


def format_of(value: Any) -> PlanFormat | None:  # noqa: ANN401  (a JSON value)
    """The wire format of a JSON value, or ``None`` when it is no plan at all."""
    if isinstance(value, JsonArray):
        return PlanFormat.TOOLS if value and all(_is_call(item) for item in value) else None
    if not isinstance(value, JsonTable):
        return None
    if isinstance(value.get("tool_calls"), JsonArray) or _is_call(value):
        return PlanFormat.TOOLS
    if any(key in value for key in _PLAN_KEYS) and not isinstance(value.get("choices"), list):
        return PlanFormat.JSON
    return format_of(inner) if (inner := _wrapped(value)) is not None else None


def _is_call(value: Any) -> bool:  # noqa: ANN401  (a JSON value)
    if not isinstance(value, JsonTable):
        return False
    call = value.get("function", value)
    return (
        isinstance(call, JsonTable)
        and isinstance(call.get("name"), str)
        and any(key in call for key in _CALL_ARGUMENTS)
    )


def _wrapped(table: JsonTable) -> JsonTable | None:
    """What stands inside one wrapping level, or ``None``."""
    if len(table) != 1:
        return None
    key, inner = next(iter(table.items()))
    if key not in _WRAPPERS:
        return None
    if isinstance(inner, str) and inner.lstrip().startswith("{"):
        try:
            inner = parse(inner).value
        except JsonFault:
            return None
        _move(inner, table.places[key])
    return inner if isinstance(inner, JsonTable) else None


def _move(value: Any, at: int) -> None:  # noqa: ANN401  (a JSON value)
    """Give JSON that stood in a string the place of that string."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, JsonTable):
            item.at = at
            item.places = dict.fromkeys(item.places, at)
            waiting.extend(item.values())
        elif isinstance(item, JsonArray):
            item.at = at
            item.places = [at] * len(item.places)
            waiting.extend(item)


def report_slips(faults: FaultLog, slips: list[tuple[str, int]]) -> None:
    """Report what a JSON text was forgiven, each kind once with its first place and its count."""
    firsts: dict[str, int] = {}
    counts = Counter(slip for slip, _ in slips)
    for slip, at in slips:
        firsts.setdefault(slip, at)
    for slip, at in firsts.items():
        times = f" ({counts[slip]} times.)" if counts[slip] > 1 else ""
        faults.repair(FaultCode.MALFORMED_JSON, f"{slip}{times}", "Read all the same.", at=at)


@dataclass(slots=True)
class JsonPlans:
    """Reads JSON values into steps, edges and an answer."""

    catalog: Catalog
    faults: FaultLog
    thinking: str = ""
    steps: list[DraftStep] = field(default_factory=list)
    edges: list[DraftEdge] = field(default_factory=list)
    answers: list[tuple[str, int]] = field(default_factory=list)

    def plan(self, value: JsonTable) -> None:
        """Read one object of the ``json`` format."""
        table = self._unwrapped(value, _PLAN_KEYS)
        self.thinking = self._text(table, "thinking", "")
        answer = self._text(table, "answer", "")
        if answer:
            self.answers.append((answer, table.places["answer"]))
        steps = self._array(table, "steps")
        for item, at in zip(steps, steps.places, strict=True):
            if isinstance(item, JsonTable):
                self.steps.append(self._step(item))
            else:
                self.faults.error(FaultCode.MALFORMED_JSON, "a step must be an object with id, agent and input.", at=at)
        edges = self._array(table, "edges")
        for item, at in zip(edges, edges.places, strict=True):
            self._edge(item, at)

    def calls(self, value: JsonTable | JsonArray) -> None:
        """Read one message, one call, or a list of calls of the ``tools`` format."""
        if isinstance(value, JsonTable) and isinstance(value.get("tool_calls"), JsonArray):
            self.thinking = self._text(value, "content", "")
        for call in _calls_in(value):
            self._call(call)

    def call(self, name: str, arguments: str, at: int) -> None:
        """Read one tool call whose arguments are JSON text that begins at offset `at`."""
        table = self._arguments_text(name, arguments, at)
        if table is not None:
            self._named_call(name, table, at)

    def _call(self, value: JsonTable) -> None:
        call: JsonTable = value.get("function", value)
        key = next(key for key in _CALL_ARGUMENTS if key in call)
        name, arguments, at = call["name"], call[key], call.places[key]
        if isinstance(arguments, str):
            table = self._arguments_text(name, arguments, at, moved=True)
        elif isinstance(arguments, JsonTable):
            table = arguments
        else:
            self.faults.error(FaultCode.MALFORMED_JSON, f"{key} of a tool call must be a JSON object.", at=at)
            return
        if table is not None:
            self._named_call(name, table, call.places["name"])

    def _named_call(self, name: str, table: JsonTable, at: int) -> None:
        name = self.catalog.of_slug(name.removeprefix("functions."))
        if name == ANSWER_TOOL and name not in self.catalog:
            table = self._unwrapped(table, ("value",))
            answer = self._text(table, "value", "")
            if answer:
                self.answers.append((answer, table.places["value"]))
            return
        table = self._unwrapped(table, ("id", "input", "description"))
        self.steps.append(self._step(table, agent=name, agent_at=at))

    def _arguments_text(self, name: str, text: str, at: int, *, moved: bool = False) -> JsonTable | None:
        """The object in a call's arguments; faults inside a JSON string all have the string's place."""
        try:
            read = parse(text)
        except JsonFault as fault:
            place = at if moved else at + fault.at
            self.faults.error(FaultCode.MALFORMED_JSON, f"arguments of {name}: {fault.message}", at=place)
            return None
        report_slips(self.faults, [(slip, at if moved else at + offset) for slip, offset in read.slips])
        if not self._ends_well(name, text, read.end, at):
            return None
        if not isinstance(read.value, JsonTable):
            self.faults.error(FaultCode.MALFORMED_JSON, f"arguments of {name} must be one JSON object.", at=at)
            return None
        _move(read.value, at)
        return read.value

    def _ends_well(self, name: str, text: str, end: int, at: int) -> bool:
        """Whether nothing stands behind a call's arguments, or only what has a repair."""
        rest = text[end:].strip()
        if not rest:
            return True
        repeated = undoubled(text.strip()) is not None
        if repeated or not rest.strip("\"'"):
            what = "stand twice" if repeated else "end in a stray quote"
            self.faults.repair(FaultCode.MALFORMED_JSON, f"arguments of {name} {what}.", "Read once.", at=at)
            return True
        self.faults.error(
            FaultCode.MALFORMED_JSON,
            f"found {rest[:20]!r} behind the arguments of {name}; give one JSON object and nothing else.",
            at=at,
        )
        return False

    def _step(self, table: JsonTable, *, agent: str | None = None, agent_at: int | None = None) -> DraftStep:
        nested = table.get("arguments")
        arguments = {key: plain(value) for key, value in table.items() if key not in _STEP_KEYS}
        if isinstance(nested, JsonTable):
            arguments = plain(nested) | arguments
        elif nested is not None:
            self._wrong_type(table, "arguments", "an object")
        return DraftStep(
            id=self._text(table, "id", "").strip(),
            agent=self._text(table, "agent", "").strip() if agent is None else agent,
            description=self._text(table, "description", ""),
            input=self._text(table, "input", ""),
            arguments={key: value for key, value in arguments.items() if value is not None},
            at=table.at,
            agent_at=table.places.get("agent", table.at) if agent_at is None else agent_at,
            input_at=table.places.get("input", table.at),
        )

    def _edge(self, item: Any, at: int) -> None:  # noqa: ANN401  (a JSON value)
        if isinstance(item, JsonArray) and len(item) == 2 and all(isinstance(end, str) for end in item):
            self.edges.append(DraftEdge(source=item[0].strip(), target=item[1].strip(), at=at))
            return
        self.faults.error(
            FaultCode.MALFORMED_EDGE, 'an edge must be a pair of step ids, as ["source", "target"].', at=at
        )

    def _unwrapped(self, table: JsonTable, keys: tuple[str, ...]) -> JsonTable:
        """`table`, or what one wrapping level around it holds, in lenient mode."""
        inner = _wrapped(table)
        if inner is None or (set(table) & set(keys) and not set(inner) & set(keys)):
            return table
        found = f"the object is wrapped in {{{next(iter(table))!r}: …}}; give the object itself."
        return inner if self.faults.repair(FaultCode.MALFORMED_JSON, found, "Unwrapped.", at=table.at) else table

    def _text(self, table: JsonTable, key: str, default: str) -> str:
        value = table.get(key)
        if isinstance(value, str):
            return value
        if value is not None:
            self._wrong_type(table, key, "a string")
        return default

    def _array(self, table: JsonTable, key: str) -> JsonArray:
        value = table.get(key)
        if isinstance(value, JsonArray):
            return value
        if value is not None:
            self._wrong_type(table, key, "a list")
        return JsonArray(table.at)

    def _wrong_type(self, table: JsonTable, key: str, accepted: str) -> None:
        self.faults.error(FaultCode.MALFORMED_JSON, f"{key!r} must be {accepted}.", at=table.places[key])


def _calls_in(value: JsonTable | JsonArray) -> Iterator[JsonTable]:
    calls = value["tool_calls"] if isinstance(value, JsonTable) and "tool_calls" in value else value
    if isinstance(calls, JsonTable):
        yield calls
        return
    yield from calls
