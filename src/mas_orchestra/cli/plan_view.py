"""What ``mas plan`` reads and shows: texts, reports with the lines they speak of, messages, schemas."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from mas_orchestra import plan as language
from mas_orchestra.cli.boundary import complain
from mas_orchestra.cli.printable import one_line, printable
from mas_orchestra.cli.verdict import fault_lines
from mas_orchestra.errors import UsageError
from mas_orchestra.types import JsonValue, Message, ToolSpec

__all__ = [
    "complain_of",
    "messages_json",
    "messages_text",
    "pretty_json",
    "print_report",
    "read_any_degree",
    "read_text",
    "tool_definitions",
]

_SHOWN_WIDTH = 96
"""Characters of a line of the plan that are shown around a fault."""
Styled: TypeAlias = tuple[str, str]
"""A piece of text and its style."""


def read_text(file: str) -> str:
    """The text of a file, or of stdin for ``-``.

    Raises:
        UsageError: It cannot be read, or is not UTF-8.
    """
    place = "stdin" if file == "-" else file
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the plan {place}: {error.strerror or error}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"the plan in {place} is not UTF-8 text: byte 0x{data[error.start]:02x} in line {line} "
            f"(offset {error.start}); convert it, as with: iconv -f LATIN1 -t UTF-8"
        ) from None


def read_any_degree(text: str, *, mode: str, plan_format: str, catalog: language.Catalog) -> language.PlanReport:
    """The report on a text that may be a plan of either degree of MAS."""
    report = language.read(text, dom="high", mode=mode, format=plan_format, catalog=catalog)
    is_answer = report.found is not None and report.found.answer is not None and not report.found.steps
    return language.read(text, dom="low", mode=mode, format=plan_format, catalog=catalog) if is_answer else report


def complain_of(report: language.PlanReport) -> None:
    """Faults and warnings on stderr."""
    if report.faults:
        complain(f"invalid plan:\n{fault_lines(report.faults, most=20)}")
    if report.warnings:
        complain(f"warnings:\n{fault_lines(report.warnings, most=20)}")


def print_report(report: language.PlanReport, text: str) -> None:
    """The report for people on stdout: summary, faults with the lines they are about, and a repaired plan."""
    from rich.console import Console
    from rich.text import Text

    pieces: list[Styled] = [*_summary(report), *_faults(report, text.split("\n")), *_steps(report)]
    Console(highlight=False, soft_wrap=True).print(Text.assemble(*pieces), end="")
    if report.plan is not None and report.mode is language.Mode.LENIENT:
        shown = language.render(report.plan, report.format.value if report.format else "json")
        sys.stdout.write(f"\n{printable(shown) if sys.stdout.isatty() else shown}\n")


def messages_text(messages: Sequence[Message]) -> str:
    """Messages under headings of their roles."""
    return "\n\n".join(f"--- {message.role}\n{message.content}" for message in messages)


def messages_json(messages: Sequence[Message]) -> list[JsonValue]:
    """Messages as endpoints take them."""
    return [{"role": message.role.value, "content": message.content} for message in messages]


def tool_definitions(tools: Sequence[ToolSpec]) -> list[JsonValue]:
    """Tools as endpoints take them."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
                "strict": True,
            },
        }
        for tool in tools
    ]


def pretty_json(value: JsonValue) -> str:
    """JSON with two blanks a level."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _summary(report: language.PlanReport) -> list[Styled]:
    kind = f"{report.format} plan" if report.format else "plan"
    if not report.valid:
        count = len(report.faults)
        return [("✗ invalid", "bold red"), (f" {kind}: {count} error{'s' * (count != 1)}\n", "")]
    if report.plan is not None and report.plan.steps:
        shape = (
            f"{len(report.plan.steps)} steps, width {report.width}, length {report.length}, "
            f"at most {report.max_calls} LLM calls, answer from {one_line(report.sink or '', limit=40)}"
        )
    else:
        shape = "a direct answer"
    return [("✓ valid", "bold green"), (f" {kind}: {shape}\n", "")]


def _steps(report: language.PlanReport) -> list[Styled]:
    if report.plan is None:
        return []
    sources: dict[str, list[str]] = {}
    for edge in report.plan.edges:
        sources.setdefault(edge.target, []).append(edge.source)
    pieces: list[Styled] = []
    for step in report.plan.steps:
        reads = f" ← {one_line(', '.join(sources[step.id]), limit=60)}" if step.id in sources else ""
        pieces += [
            (f"  {one_line(step.id, limit=40)}", "bold"),
            (f"  {one_line(step.agent, limit=40)}", "cyan"),
            (f"{reads}\n", "dim"),
        ]
    return pieces


def _faults(report: language.PlanReport, lines: Sequence[str]) -> list[Styled]:
    pieces: list[Styled] = []
    for fault in (*report.faults, *report.warnings):
        colour = "red" if fault.severity is language.Severity.ERROR else "yellow"
        place = f" at line {fault.line}, column {fault.column}" if fault.line is not None else ""
        step = f" (step {one_line(fault.step, limit=40)})" if fault.step else ""
        pieces += [(f"{fault.severity} {fault.code}", f"bold {colour}"), (f"{place}{step}\n", "")]
        pieces += [(f"  {one_line(fault.message, limit=600)}\n", "")]
        if fault.line is not None and fault.column is not None:
            pieces += _excerpt(lines[fault.line - 1], fault.line, fault.column, colour)
    return pieces


def _excerpt(line: str, number: int, column: int, colour: str) -> list[Styled]:
    """The line with a caret under the column, cut around it when it is long."""
    from rich.cells import cell_len

    start = max(0, min(column - 1 - _SHOWN_WIDTH // 2, len(line) - _SHOWN_WIDTH))
    before = printable(line[start : column - 1]).expandtabs(4)
    behind = printable(line[column - 1 : start + _SHOWN_WIDTH]).expandtabs(4)
    margin = f"  {number} | "
    blank = " " * (len(margin) - 2) + "| "
    return [(f"{margin}{before}{behind}\n", "dim"), (f"{blank}{' ' * cell_len(before)}", "dim"), ("^\n", colour)]
