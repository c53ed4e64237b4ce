"""The options of ``mas solve``, each with its help."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Agent",
    "Cache",
    "Config",
    "Corpus",
    "Degree",
    "DegreeChoice",
    "File",
    "Format",
    "FormatChoice",
    "Json",
    "MaxCalls",
    "MaxCost",
    "MaxSteps",
    "MaxTokens",
    "Model",
    "OnError",
    "OnErrorChoice",
    "Orchestrator",
    "PlanFile",
    "Prompt",
    "Question",
    "Quiet",
    "RepairTurns",
    "Seed",
    "Set",
    "StepTimeout",
    "Timeout",
    "Trace",
    "above_zero",
]


# Spelled out here: the values of `mas_orchestra.types` would load pydantic before `mas solve --help` can print.
class DegreeChoice(StrEnum):
    """Degree of MAS."""

    LOW = "low"
    HIGH = "high"


class FormatChoice(StrEnum):
    """Wire format of plans, ``auto`` to suit the orchestrator."""

    AUTO = "auto"
    XML = "xml"
    TOOLS = "tools"
    JSON = "json"


class OnErrorChoice(StrEnum):
    """What a failed step does to the run."""

    FAIL = "fail"
    PARTIAL = "partial"
    SKIP = "skip"


def above_zero(value: float | None) -> float | None:
    """The value of an option, if it is a finite number above 0."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value} is not a number above 0")
    return value


Question: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION|-", help="The question, or - to read it from stdin.", show_default=False),
]
File: TypeAlias = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the question from a file.")]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="URI",
        help="The sub-agents' model, as openai:NAME[@BASE_URL], local:smollm2-135m or scripted:FILE. "
        "Default: MAS_MODEL, then `model` in mas.toml, then the embedded model.",
    ),
]
Orchestrator: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--orchestrator",
        metavar="URI",
        help="Who writes the plan. Default: MAS_ORCHESTRATOR, then `orchestrator` in mas.toml, then the model.",
    ),
]
Degree: TypeAlias = Annotated[
    DegreeChoice | None,
    typer.Option("--dom", help="Degree of MAS: low is a direct answer or one step, high is any plan. Default: high."),
]
PlanFile: TypeAlias = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="Run this plan instead of asking an orchestrator.")
]
Agent: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--agent",
        metavar="NAME[:SIZE]",
        help="Give the whole question to one sub-agent: cot, sc, sc:7 (samples), debate, "
        "debate:3x5 (debaters x rounds), reflexion:3 (rounds), search:4 (iterations), or the name of an installed one.",
    ),
]
Corpus: TypeAlias = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="JSONL", help="Documents that search agents may read, one a line."),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout instead of the answer.")]
Trace: TypeAlias = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Keep everything that was said in a file for `mas trace show`."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no totals.")]
MaxCalls: TypeAlias = Annotated[
    int | None, typer.Option("--max-calls", min=1, metavar="N", help="Most LLM calls of the run.")
]
MaxTokens: TypeAlias = Annotated[
    int | None, typer.Option("--max-tokens", min=1, metavar="N", help="Most tokens of the run, prompts included.")
]
MaxCost: TypeAlias = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", callback=above_zero, help="Most US dollars of the run.")
]
MaxSteps: TypeAlias = Annotated[
    int | None, typer.Option("--max-steps", min=1, metavar="N", help="Largest plan that is run, in steps. Default: 64.")
]
Timeout: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", callback=above_zero, help="Time limit of the run.")
]
StepTimeout: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--step-timeout", metavar="SECONDS", callback=above_zero, help="Time limit of one step, queueing aside."
    ),
]
OnError: TypeAlias = Annotated[
    OnErrorChoice,
    typer.Option(
        "--on-step-error",
        help="When a step fails: fail stops the run, partial goes on with a marked gap, skip skips what reads it.",
    ),
]
RepairTurns: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--repair-turns", min=0, metavar="N", help="How often to ask again for a plan that cannot run. Default: 2."
    ),
]
Prompt: TypeAlias = Annotated[
    Path | None,
    typer.Option("--prompt", metavar="TEMPLATE", help="A Jinja template in place of the orchestrator's prompt."),
]
Format: TypeAlias = Annotated[
    FormatChoice | None,
    typer.Option("--format", help="Plan format to ask for. Default: auto, which suits the orchestrator."),
]
Cache: TypeAlias = Annotated[
    Path | None, typer.Option("--cache", metavar="DIR", help="Keep replies here and never pay for the same call twice.")
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", metavar="N", help="Names the random draws of the run.")]
Config: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings. Default: MAS_CONFIG, then ./mas.toml.")
]
Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, as agents.SCAgent.samples=7; repeatable."),
]
