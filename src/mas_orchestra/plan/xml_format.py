"""Reads the blocks of the xml format: ``<agent>`` and ``<edge>``."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mas_orchestra.plan.arguments import from_text, is_list_argument, split_commas
from mas_orchestra.plan.catalog import AgentCard, Catalog
from mas_orchestra.plan.draft import DraftEdge, DraftStep
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.report import FaultCode
from mas_orchestra.plan.tags import TagList, unescape

__all__ = ["FIELD_TAGS", "Block", "XmlBlocks"]

FIELD_TAGS = (
    "agent_id",
    "agent_name",
    "agent_description",
    "agent_input",
    "agent_output_id",
    "required_arguments",
    "from",
    "to",
)
_SHORT = frozenset({"agent_id", "agent_name", "agent_output_id", "from", "to"})
_ENDS_AGENT = frozenset({"agent", "edge", "answer", "think", "thinking"})
_UNKNOWN_TAG = re.compile(r"<([A-Za-z_][\w-]{0,60})\s*>")
_OUTPUT_ID = "agent_output_id"


@dataclass(slots=True)
class _Field:
    """Text between two tags, trimmed; `at` is its offset."""

    text: str
    at: int

    def read(self) -> str:
        """The text with entities replaced; a literal ``""`` is the paper's spelling of nothing."""
        return "" if self.text == '""' else unescape(self.text)


@dataclass(slots=True)
class Block:
    """Where a block ended.

    Attributes:
        next: Index of the first tag behind it.
        end: Offset behind it.
        unclosed_at: Offset of its opening tag when it has no closing one.
    """

    next: int
    end: int
    unclosed_at: int | None = None


@dataclass(slots=True)
class _AgentFields:
    """What was found between ``<agent>`` and its end."""

    found: dict[str, _Field] = field(default_factory=dict)
    has_arguments: bool = False
    loose_text: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class XmlBlocks:
    """Reads blocks from a list of tags into steps and edges.

    Attributes:
        output_ids: Ids that ``<agent_output_id>`` gave, for ``<answer>`` to name.
    """

    tags: TagList
    catalog: Catalog
    faults: FaultLog
    steps: list[DraftStep] = field(default_factory=list)
    edges: list[DraftEdge] = field(default_factory=list)
    output_ids: set[str] = field(default_factory=set)

    def forget(self) -> None:
        """Drop what was read so far: it was reasoning."""
        self.steps.clear()
        self.edges.clear()
        self.output_ids.clear()

    def agent(self, index: int) -> Block:
        """Read the ``<agent>`` whose opening tag is at `index`."""
        opening = self.tags.tags[index]
        if self._is_prose(index):
            return Block(index + 1, opening.end)
        fields, block = self._agent_fields(index)
        self._add_step(fields, opening.start)
        return block

    def _is_prose(self, index: int) -> bool:
        """Whether the tag at `index` is only spoken of: another block begins right behind it."""
        following = self.tags.tags[index + 1] if index + 1 < len(self.tags) else None
        return (
            following is not None
            and following.name in _ENDS_AGENT
            and not (following.closing and following.name == self.tags.tags[index].name)
        )

    def edge(self, index: int) -> Block:
        """Read the ``<edge>`` whose opening tag is at `index`."""
        tags = self.tags.tags
        if self._is_prose(index):
            return Block(index + 1, tags[index].end)
        source: _Field | None = None
        place = index + 1
        while place < len(tags) and tags[place].name in {"from", "to"}:
            tag = tags[place]
            if tag.closing:
                self._stray(tag.name, tag.start)
                place += 1
                continue
            end, place = self._field(place)
            source = self._pair(tag.name, source, end)
        if source is not None:
            self._unpaired("from", source)
        closed = place < len(tags) and tags[place].closing and tags[place].name == "edge"
        if closed:
            return Block(place + 1, tags[place].end)
        return Block(place, self._start_of(place), tags[index].start)

    def text(self, index: int) -> tuple[str, int, Block]:
        """Text of the field whose opening tag is at `index`, its offset, and where it ends."""
        found, place = self._field(index)
        end = self.tags.tags[place - 1].end if place > index + 1 else found.at + len(found.text)
        return found.read(), found.at, Block(place, end)

    def _agent_fields(self, index: int) -> tuple[_AgentFields, Block]:
        tags, text = self.tags.tags, self.tags.text
        fields = _AgentFields()
        inside, cursor, place = False, 0, index + 1
        while place < len(tags):
            tag = tags[place]
            if tag.name == "agent" and tag.closing:
                return fields, Block(place + 1, tag.end)
            if tag.name in _ENDS_AGENT:
                break
            if inside and text[cursor : tag.start].strip():
                fields.loose_text.append((text[cursor : tag.start], cursor))
            following = place + 1
            if tag.name == "required_arguments":
                inside, fields.has_arguments = not tag.closing, True
            elif tag.closing:
                self._stray(tag.name, tag.start)
            else:
                following = self._keep(fields, place)
            place = following
            last = tags[place - 1]
            is_open_field = not last.closing and last.name != "required_arguments"
            cursor = self._start_of(place) if is_open_field else last.end
        end = self._start_of(place)
        if inside and text[cursor:end].strip():
            fields.loose_text.append((text[cursor:end], cursor))
        return fields, Block(place, end, tags[index].start)

    def _keep(self, fields: _AgentFields, index: int) -> int:
        """Read one field of an agent; gives back the index of the next tag."""
        name = self.tags.tags[index].name
        found, following = self._field(index)
        if name in fields.found:
            self.faults.error(
                FaultCode.MALFORMED_XML,
                f"<{name}> stands twice in one <agent>; a step has one. Remove one, or begin a new <agent>.",
                at=self.tags.tags[index].start,
            )
        else:
            fields.found[name] = found
        return following

    def _field(self, index: int) -> tuple[_Field, int]:
        """A field's text and the index of the tag behind it; an unclosed one ends at the next tag."""
        tags = self.tags.tags
        opening = tags[index]
        short = opening.name in _SHORT
        close = self.tags.end_of_short(index) if short else self.tags.end_of_text(index)
        if close is None:
            self.faults.error(
                FaultCode.UNCLOSED_TAG,
                f"<{opening.name}> is not closed; write </{opening.name}> behind its text.",
                at=opening.start,
            )
            return self._between(opening.end, self._start_of(index + 1)), index + 1
        return self._between(opening.end, tags[close].start), close + 1

    def _start_of(self, index: int) -> int:
        """Offset of the tag at `index`, or of the end of the text."""
        return self.tags.tags[index].start if index < len(self.tags) else len(self.tags.text)

    def _between(self, start: int, end: int) -> _Field:
        raw = self.tags.text[start:end]
        body = raw.lstrip()
        return _Field(body.rstrip(), start + len(raw) - len(body))

    def _add_step(self, fields: _AgentFields, at: int) -> None:
        found = fields.found
        given = found.get("agent_id") or found.get(_OUTPUT_ID)
        name, work = found.get("agent_name"), found.get("agent_input")
        step = DraftStep(
            id=given.read().strip() if given else "",
            agent=name.read().strip() if name else "",
            description=found["agent_description"].read() if "agent_description" in found else "",
            input=work.read() if work else "",
            at=at,
            agent_at=name.at if name else at,
            input_at=work.at if work else at,
        )
        if _OUTPUT_ID in found:
            self.output_ids.add(found[_OUTPUT_ID].read().strip())
        self._arguments(step, fields)
        self.steps.append(step)

    def _arguments(self, step: DraftStep, fields: _AgentFields) -> None:
        if not fields.has_arguments:
            self.faults.error(
                FaultCode.MISSING_FIELD,
                "this <agent> has no <required_arguments>; write "
                "<required_arguments><agent_input></agent_input></required_arguments> to hand on the question itself.",
                at=step.at,
                step=step.id or None,
            )
        for text, at in fields.loose_text:
            self._loose(text, at, step)
        name = step.agent if step.agent in self.catalog else self.catalog.resolve(step.agent)
        card = self.catalog[name] if name else None
        known = self.catalog.tags_of[card.name] if card else {}
        for tag, value in fields.found.items():
            is_given = tag in known or (tag in self.catalog.tags and value.text)
            if is_given:
                step.arguments[known.get(tag, tag)] = self._value(card, known, tag, value, step)

    def _value(self, card: AgentCard | None, known: Mapping[str, str], tag: str, value: _Field, step: DraftStep) -> Any:  # noqa: ANN401  (a JSON value)
        text = value.read()
        if card is None or tag not in known:
            return text
        read = from_text(card, known[tag], text)
        if isinstance(read, str) and is_list_argument(card, known[tag]) and not text.startswith("["):
            read = split_commas(text)
            self.faults.warning(
                FaultCode.REPAIRED,
                f"<{tag}> holds a comma list; read as {len(read)} strings. A JSON list of strings is clearer.",
                at=value.at,
                step=step.id or None,
            )
        return read

    def _loose(self, text: str, at: int, step: DraftStep) -> None:
        at += len(text) - len(text.lstrip())
        unknown = _UNKNOWN_TAG.search(text)
        code = FaultCode.BAD_ARGUMENT if unknown else FaultCode.MISSING_FIELD
        what = f"<{unknown[1]}> is no argument of a sub-agent" if unknown else "text stands outside <agent_input>"
        self.faults.error(
            code,
            f"{what}; inside <required_arguments> put the sub-task into <agent_input> and give only arguments of "
            "the sub-agent's card.",
            at=at,
            step=step.id or None,
        )

    def _pair(self, name: str, source: _Field | None, value: _Field) -> _Field | None:
        """The source that waits for its target after one more ``<from>`` or ``<to>``."""
        if name == "from":
            if source is not None:
                self._unpaired("from", source)
            return value
        if source is None:
            self._unpaired("to", value)
        else:
            self.edges.append(DraftEdge(source=source.read().strip(), target=value.read().strip(), at=source.at))
        return None

    def _unpaired(self, name: str, value: _Field) -> None:
        other = "to" if name == "from" else "from"
        self.faults.error(
            FaultCode.MALFORMED_EDGE,
            f"<{name}>{value.text[:60]}</{name}> has no <{other}> beside it; write every edge as one "
            "<from>source</from><to>target</to> pair, in this order.",
            at=value.at,
        )

    def _stray(self, name: str, at: int) -> None:
        self.faults.error(
            FaultCode.MALFORMED_XML,
            f"</{name}> closes nothing; write the tag's name inside text as &lt;/{name}&gt;.",
            at=at,
        )
