"""``mas plan``: check plans, draw them, and show what orchestrators are told of the plan language."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mas_orchestra.cli.solve_options import DegreeChoice, FormatChoice

__all__ = ["plan_app"]

plan_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check and draw plans; print their schema and prompt.",
)


class ModeChoice(StrEnum):
    """How faults are treated."""

    STRICT = "strict"
    LENIENT = "lenient"


class TargetChoice(StrEnum):
    """What a plan can be rendered as."""

    XML = "xml"
    TOOLS = "tools"
    JSON = "json"
    MERMAID = "mermaid"
    SVG = "svg"


class SchemaChoice(StrEnum):
    """What a schema can be made for."""

    JSON = "json"
    TOOLS = "tools"


File = Annotated[str, typer.Argument(metavar="FILE", help="Text of the plan, in any wire format; - reads stdin.")]
Degree = Annotated[DegreeChoice, typer.Option("--dom", help="Degree of MAS: low is an answer or one step.")]
Mode = Annotated[
    ModeChoice, typer.Option("--mode", help="strict: any error is final. lenient: mend what has a repair.")
]
Format = Annotated[FormatChoice, typer.Option("--format", help="Wire format of the text.")]
Truncated = Annotated[
    bool, typer.Option("--truncated", help="The model stopped by length: such a plan is never valid.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

CHECK_EXAMPLES = """\b
Examples:
  mas plan check plan.xml
  mas plan check - --mode lenient --max-calls 40 < reply.txt
  mas plan check plan.json --json | jq .faults

\b
Exit codes: 0 valid, 1 invalid, 2 wrong usage.
"""
RENDER_EXAMPLES = """\b
Examples:
  mas plan render plan.xml --to svg > plan.svg
  mas plan render reply.txt --to json
  mas plan render - --to mermaid < plan.json

\b
Slips that have a repair are mended first. A plan with faults is still drawn (mermaid, svg), but exits with 1.
"""
SCHEMA_EXAMPLES = """\b
Examples:
  mas plan schema > plan.schema.json
  mas plan schema --dom low
  mas plan schema --for tools
"""
PROMPT_EXAMPLES = """\b
Examples:
  mas plan prompt "Is 2027 prime?"
  mas plan prompt "Is 2027 prime?" --dom low --format tools --json
  mas plan prompt - --template my-prompt.jinja < question.txt
"""


@plan_app.command(epilog=CHECK_EXAMPLES)
def check(
    file: File,
    *,
    dom: Degree = DegreeChoice.HIGH,
    mode: Mode = ModeChoice.STRICT,
    plan_format: Format = FormatChoice.AUTO,
    max_steps: Annotated[int, typer.Option("--max-steps", min=1, metavar="N", help="Most steps.")] = 64,
    max_calls: Annotated[
        int | None, typer.Option("--max-calls", min=0, metavar="N", help="Most LLM calls in the worst case.")
    ] = None,
    auto_join: Annotated[
        bool, typer.Option("--auto-join", help="With --mode lenient: join several last steps by a collector.")
    ] = False,
    truncated: Truncated = False,
    as_json: Json = False,
) -> None:
    """Read a plan and print every fault with its place."""
    from mas_orchestra import plan as language
    from mas_orchestra.cli.deliver import print_json
    from mas_orchestra.cli.plan_view import print_report, read_text
    from mas_orchestra.cli.settings_catalog import settings_catalog

    text = read_text(file)
    report = language.read(
        text,
        catalog=settings_catalog(),
        dom=dom.value,
        mode=mode.value,
        format=plan_format.value,
        max_steps=max_steps,
        max_calls=max_calls,
        auto_join=auto_join,
        truncated=truncated,
    )
    if as_json:
        print_json(language.report_json(report))
    else:
        print_report(report, text)
    raise typer.Exit(0 if report.valid else 1)


@plan_app.command(epilog=RENDER_EXAMPLES)
def render(
    file: File,
    *,
    to: Annotated[TargetChoice, typer.Option("--to", help="What to write.")],
    mode: Mode = ModeChoice.LENIENT,
    plan_format: Format = FormatChoice.AUTO,
) -> None:
    """Write a plan in another wire format, or draw it."""
    from mas_orchestra import plan as language
    from mas_orchestra.cli.deliver import print_text
    from mas_orchestra.cli.plan_view import complain_of, read_any_degree, read_text
    from mas_orchestra.cli.settings_catalog import settings_catalog

    catalog = settings_catalog()
    report = read_any_degree(read_text(file), mode=mode.value, plan_format=plan_format.value, catalog=catalog)
    complain_of(report)
    is_drawing = to in {TargetChoice.MERMAID, TargetChoice.SVG}
    shown = report.plan or (report.found if is_drawing else None)
    if shown is not None and (shown.steps or shown.answer):
        print_text(language.render(shown, to.value, catalog))
    raise typer.Exit(0 if report.valid else 1)


@plan_app.command(epilog=SCHEMA_EXAMPLES)
def schema(
    *,
    dom: Degree = DegreeChoice.HIGH,
    target: Annotated[
        SchemaChoice, typer.Option("--for", help="json: schema of the json format. tools: tool definitions.")
    ] = SchemaChoice.JSON,
) -> None:
    """Print the JSON Schema of plans, made from the installed sub-agents."""
    from mas_orchestra import plan as language
    from mas_orchestra.cli.deliver import print_text
    from mas_orchestra.cli.plan_view import pretty_json, tool_definitions
    from mas_orchestra.cli.settings_catalog import settings_catalog

    catalog = settings_catalog()
    if target is SchemaChoice.TOOLS:
        print_text(pretty_json(tool_definitions(language.tools(catalog, dom.value))))
    else:
        print_text(pretty_json(language.json_schema(catalog, dom.value)))


@plan_app.command(epilog=PROMPT_EXAMPLES)
def prompt(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads stdin.")] = "…",
    *,
    dom: Degree = DegreeChoice.HIGH,
    plan_format: Annotated[FormatChoice, typer.Option("--format", help="Wire format to ask for; auto is xml.")] = (
        FormatChoice.AUTO
    ),
    template: Annotated[
        Path | None, typer.Option("--template", metavar="FILE", help="A Jinja template in place of ours.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the exact messages that an orchestrator is sent for a question."""
    from mas_orchestra import plan as language
    from mas_orchestra.cli.deliver import print_json, print_text
    from mas_orchestra.cli.plan_view import messages_json, messages_text
    from mas_orchestra.cli.question import read_question
    from mas_orchestra.cli.settings_catalog import settings_catalog

    catalog = settings_catalog()
    wanted = "xml" if plan_format is FormatChoice.AUTO else plan_format.value
    messages = language.prompt_messages(
        read_question(question, None), dom=dom.value, catalog=catalog, format=wanted, template=template
    )
    if as_json:
        digest = language.prompt_hash(dom=dom.value, catalog=catalog, format=wanted, template=template)
        print_json({"prompt_hash": digest, "messages": messages_json(messages)})
    else:
        print_text(messages_text(messages))
