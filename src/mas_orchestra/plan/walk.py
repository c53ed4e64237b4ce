"""One walk over a text, over the places where something may begin: a tag of ours, or JSON.

Whatever is inside a block that was read is data and is not looked at again: a tag in a JSON string, JSON in an
``<agent_input>``, ``</think>`` in either. A draft plan inside reasoning is never a plan, because reasoning is skipped
as a whole, and a lone ``</think>`` turns all text before it into reasoning.
"""

import re
from dataclasses import dataclass, field

from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.draft import FAR_TOO_MANY, Draft
from mas_orchestra.plan.faults import FaultLog
from mas_orchestra.plan.json_format import JsonPlans, format_of, report_slips
from mas_orchestra.plan.jsontext import JsonArray, JsonFault, JsonTable, parse
from mas_orchestra.plan.report import FaultCode, PlanFormat
from mas_orchestra.plan.tags import REASONING, TagList, unescape
from mas_orchestra.plan.xml_format import FIELD_TAGS, Block, XmlBlocks

__all__ = ["Scan", "Walk", "draft_of_json", "report_open_reasoning"]

# Where a plan in JSON may begin: an object with a key, an empty one excepted, or a list of objects.
_JSON_START = re.compile(r"""\{\s*["']|\[\s*\{\s*["']""")
_FENCE = re.compile(r"```|~~~")
_MOST_BROKEN_STARTS = 1000
"""A text with more places where JSON begins and breaks is no plan; looking at each could cost more than it is worth."""
_TELLING_KEYS = frozenset({"steps", "tool_calls", "edges", "name", "function", "json_input"})


@dataclass(slots=True)
class Scan:
    """What a text holds.

    Attributes:
        draft: What was read, possibly nothing.
        outside: The text without its reasoning, trimmed.
    """

    draft: Draft
    outside: str


@dataclass(slots=True)
class Walk:
    """What one text holds; `run` reads it."""

    text: str
    format: PlanFormat | None
    catalog: Catalog
    faults: FaultLog
    max_steps: int
    tags: TagList = field(init=False)
    blocks: XmlBlocks = field(init=False)
    thoughts: dict[str, list[str]] = field(init=False)
    answers: list[tuple[str, int]] = field(default_factory=list)
    values: list[tuple[JsonTable | JsonArray, PlanFormat]] = field(default_factory=list)
    slips: list[tuple[str, int]] = field(default_factory=list)
    unclosed: list[tuple[str, int, bool]] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    broken: JsonFault | None = None
    broken_starts: int = 0
    position: int = 0
    json_end: int = 0
    outside_from: int = 0
    template_end: int = 0

    def __post_init__(self) -> None:
        names = (*REASONING, "agent", "edge", "answer", *FIELD_TAGS, *self.catalog.tags)
        self.tags = TagList(self.text, names, most=_most_tags(self.max_steps))
        self.blocks = XmlBlocks(self.tags, self.catalog, self.faults)
        self.thoughts = {name: [] for name in REASONING}

    def run(self) -> Scan:
        """Walk over tags and JSON in the order of the text."""
        index = 0
        reads_json = self.format in {None, PlanFormat.JSON, PlanFormat.TOOLS}
        json_at = self._json_start(0) if reads_json else None
        most_steps = FAR_TOO_MANY * self.max_steps
        while (index < len(self.tags) or json_at is not None) and len(self.blocks.steps) <= most_steps:
            tag_at = self.tags.tags[index].start if index < len(self.tags) else None
            if json_at is not None and (tag_at is None or json_at < tag_at):
                self._json(json_at)
                json_at = self._json_start(self.position)
            elif tag_at is not None and tag_at < self.position:
                index += 1
            else:
                block = self._tag(index)
                index, self.position = block.next, max(self.position, block.end)
                if json_at is not None and json_at < self.position:
                    json_at = self._json_start(self.position)
        if self.tags.is_cut and index >= len(self.tags) and self.json_end <= self.tags.tags[-1].start:
            message = "far more tags than a plan of the accepted size needs; the text was not read to its end."
            self.faults.error(FaultCode.PLAN_TOO_LARGE, message, at=self.tags.tags[-1].start)
        self.outside.append(self.text[self.outside_from :])
        return Scan(self._draft(), "".join(self.outside).strip())

    def _json_start(self, at: int) -> int | None:
        if self.broken_starts >= _MOST_BROKEN_STARTS:
            return None
        match = _JSON_START.search(self.text, at)
        return match.start() if match else None

    def _json(self, at: int) -> None:
        try:
            read = parse(self.text, at)
        except JsonFault as fault:
            self.broken_starts += 1
            self.position = max(fault.at, at + 1)
            if self.broken is None and (_TELLING_KEYS.intersection(fault.keys) or self.format is not None):
                self.broken = fault
            return
        self.position = self.json_end = read.end
        kind = format_of(read.value)
        if kind is not None and self.format in {None, kind}:
            self.values.append((read.value, kind))
            self.slips.extend(read.slips)

    def _tag(self, index: int) -> Block:
        tag = self.tags.tags[index]
        behind = Block(index + 1, tag.end)
        if tag.name in REASONING:
            return self._end_of_reasoning(index) if tag.closing else self._reasoning(index)
        if tag.closing or self.format in {PlanFormat.JSON, PlanFormat.TOOLS}:
            return behind
        if tag.name == "agent":
            return self._block(self.blocks.agent(index), tag.name)
        if tag.name == "edge":
            return self._block(self.blocks.edge(index), tag.name)
        if tag.name == "answer":
            answer, at, block = self.blocks.text(index)
            self.answers.append((answer, at))
            return block
        if self.tags.end_of_short(index) is not None and tag.name in FIELD_TAGS:
            self._outside_block(tag.name, tag.start)
        return behind

    def _block(self, block: Block, name: str) -> Block:
        if block.unclosed_at is not None:
            self.unclosed.append((name, block.unclosed_at, block.next >= len(self.tags)))
        return block

    def _reasoning(self, index: int) -> Block:
        opening = self.tags.tags[index]
        close = self.tags.after(index, opening.name, closing=True)
        self.outside.append(self.text[self.outside_from : opening.start])
        if close is None:
            report_open_reasoning(self.faults, opening.start, f"<{opening.name}>")
            self.outside_from = len(self.text)
            return Block(len(self.tags), len(self.text))
        closing = self.tags.tags[close]
        self.thoughts[opening.name].append(self.text[opening.end : closing.start].strip())
        self.outside_from = closing.end
        return Block(close + 1, closing.end)

    def _end_of_reasoning(self, index: int) -> Block:
        """A lone closing tag: its opening tag was in the prompt's template, so all before it was reasoning."""
        closing = self.tags.tags[index]
        self.faults.forget()
        self.blocks.forget()
        for found in (self.answers, self.values, self.slips, self.unclosed, self.outside):
            found.clear()
        self.broken = None
        self.thoughts = {name: [] for name in REASONING}
        self.template_end = closing.start
        self.outside_from = closing.end
        return Block(index + 1, closing.end)

    def _outside_block(self, name: str, at: int) -> None:
        block = "edge" if name in {"from", "to"} else "agent"
        self.faults.error(
            FaultCode.MALFORMED_XML,
            f"<{name}> stands outside <{block}>; write <{block}> before it and </{block}> behind the block.",
            at=at,
        )

    def _draft(self) -> Draft:
        has_xml = bool(self.blocks.steps) or (bool(self.answers) and not self.values)
        if has_xml or (not self.values and self.blocks.edges):
            return self._xml_draft()
        if self.values:
            return self._values_draft()
        if self.broken is not None and not self.faults.has_errors:
            self.faults.error(FaultCode.MALFORMED_JSON, self.broken.message, at=self.broken.at)
        return Draft(thinking=self._thinking())

    def _xml_draft(self) -> Draft:
        for name, at, is_last in self.unclosed:
            found = f"<{name}> is not closed; write </{name}> at its end."
            if is_last or (name == "agent" and self._is_last_agent(at)):
                self.faults.repair(FaultCode.UNCLOSED_TAG, found, "Closed at the end of the block.", at=at)
            else:
                self.faults.error(FaultCode.UNCLOSED_TAG, found, at=at)
        self._note_fence()
        steps = self.blocks.steps
        names_output = self.blocks.output_ids | {"agent_output_id"} | {step.id for step in steps if len(steps) == 1}
        answers = [(text, at) for text, at in self.answers if not (steps and text in names_output)]
        draft = Draft(format=PlanFormat.XML, thinking=self._thinking(), steps=steps, edges=self.blocks.edges)
        _answer(draft, answers, self.faults)
        return draft

    def _is_last_agent(self, at: int) -> bool:
        return bool(self.blocks.steps) and self.blocks.steps[-1].at == at

    def _values_draft(self) -> Draft:
        kind = next((kind for _, kind in self.values if kind is PlanFormat.JSON), PlanFormat.TOOLS)
        report_slips(self.faults, self.slips)
        self._note_fence()
        plans = JsonPlans(self.catalog, self.faults)
        chosen = [value for value, other in self.values if other is kind]
        if kind is PlanFormat.TOOLS:
            for value in chosen:
                plans.calls(value)
        else:
            self._one_plan(chosen, plans)
        return draft_of_json(plans, kind, self._thinking(), self.faults)

    def _one_plan(self, values: list[JsonTable | JsonArray], plans: JsonPlans) -> None:
        first = values[0]
        for other in values[1:]:
            if other == first:
                self.faults.repair(FaultCode.MALFORMED_JSON, "the plan stands twice.", "Read once.", at=other.at)
            else:
                self.faults.error(
                    FaultCode.MALFORMED_JSON, "a second, different plan stands here; give exactly one.", at=other.at
                )
        if isinstance(first, JsonTable):
            plans.plan(first)

    def _note_fence(self) -> None:
        first = next((value.at for value, _ in self.values), None)
        if first is None and self.blocks.steps:
            first = self.blocks.steps[0].at
        fence = _FENCE.search(self.text, 0, first) if first is not None else None
        if fence:
            self.faults.warning(FaultCode.REPAIRED, "the plan stands in a code fence; ignored.", at=fence.start())

    def _thinking(self) -> str:
        """``<thinking>`` where it says anything, else ``<think>``, else what stood before a lone closing tag."""
        template = self.text[: self.template_end].strip()
        spoken = ("\n\n".join(filter(None, self.thoughts[name])) for name in ("thinking", "think"))
        return unescape(next(filter(None, spoken), template))


def draft_of_json(plans: JsonPlans, kind: PlanFormat, thinking: str, faults: FaultLog) -> Draft:
    """The draft that values of the ``json`` or the ``tools`` format make."""
    draft = Draft(
        format=kind,
        thinking=plans.thinking or thinking,
        steps=plans.steps,
        edges=plans.edges,
        edges_are_references=kind is PlanFormat.TOOLS,
    )
    _answer(draft, plans.answers, faults)
    return draft


def _most_tags(max_steps: int) -> int:
    """More tags than any plan of so many steps needs, all its possible edges and some tags in its texts included."""
    return 500 * max_steps + 4 * max_steps**2


def _answer(draft: Draft, answers: list[tuple[str, int]], faults: FaultLog) -> None:
    """The one direct answer; two different ones are a fault, never "the last wins"."""
    other = next((at for text, at in answers if text != answers[0][0]), None)
    if other is not None:
        code = FaultCode.MALFORMED_XML if draft.format is PlanFormat.XML else FaultCode.MALFORMED_JSON
        faults.error(code, "a second, different answer stands here; give exactly one.", at=other)
    if answers and answers[0][0].strip():
        draft.answer, draft.answer_at = answers[0]


def report_open_reasoning(faults: FaultLog, at: int, what: str) -> None:
    """Reasoning that never ends."""
    faults.error(
        FaultCode.REASONING_NOT_CLOSED,
        f"{what} is never closed, so no plan follows it; close the reasoning and write the plan behind it.",
        at=at,
    )
