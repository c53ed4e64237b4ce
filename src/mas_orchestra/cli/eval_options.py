"""The options of ``mas eval``, each with its help."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from mas_orchestra.cli.solve_options import above_zero

__all__ = [
    "Cache",
    "Concurrency",
    "ConfigFile",
    "ExportChoice",
    "Json",
    "MaxCalls",
    "MaxCost",
    "MaxTime",
    "MaxTokens",
    "Quiet",
    "Run",
    "Runs",
    "Set",
    "Shard",
    "StopAtCap",
    "Workers",
]


class ExportChoice(StrEnum):
    """File format of an export."""

    PARQUET = "parquet"
    JSONL = "jsonl"


ConfigFile: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="[CONFIG.toml]", help="What is compared on what; options below go before it.", show_default=False
    ),
]
Run: TypeAlias = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.", show_default=False)]
Runs: TypeAlias = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", show_default=False)]
System: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--system", metavar="SYSTEM", help="As cot, sc:5, orchestrated:URI dom=high; repeatable."),
]
TaskSpec: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tasks", metavar="SPEC", help="As masbench:FOLDER, aime24, jsonl:mine.jsonl; repeatable."),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option("--model", "-m", metavar="URI", help="The sub-agents' model. Default: as `mas solve`.")
]
Orchestrator: TypeAlias = Annotated[
    str | None, typer.Option("--orchestrator", metavar="URI", help="Who writes plans. Default: the model.")
]
Attempts: TypeAlias = Annotated[
    int | None, typer.Option("--attempts", "-k", min=1, metavar="K", help="Attempts a task. Default: 8.")
]
MaxTasks: TypeAlias = Annotated[
    int | None, typer.Option("--max-tasks", min=1, metavar="N", help="Take a sample of so many tasks of each set.")
]
Seed: TypeAlias = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Names the random draws of the run. Default: 0.")
]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The run's folder. Default: runs/NAME.")
]
StoreUrl: TypeAlias = Annotated[
    str | None,
    typer.Option("--store", metavar="URL", help="postgresql://USER@HOST/DATABASE in place of a file; no password."),
]
MaxCalls: TypeAlias = Annotated[
    int | None, typer.Option("--max-calls", min=1, metavar="N", help="Most LLM calls of the whole run.")
]
MaxTokens: TypeAlias = Annotated[
    int | None, typer.Option("--max-tokens", min=1, metavar="N", help="Most tokens of the whole run.")
]
MaxCost: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-cost", metavar="USD", callback=above_zero, help="Most US dollars of the whole run."),
]
MaxTime: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-time", metavar="SECONDS", callback=above_zero, help="Time limit of this start of the run."),
]
StopAtCap: TypeAlias = Annotated[
    bool, typer.Option("--stop-at-cap", help="Begin although the estimate is over a cap; stop when it is reached.")
]
Workers: TypeAlias = Annotated[
    int,
    typer.Option("--workers", min=1, max=256, metavar="N", help="Processes. Default: this one.", show_default=False),
]
Shard: TypeAlias = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", help="The I-th of N parts of the tasks, where N machines share --store."),
]
Concurrency: TypeAlias = Annotated[
    int | None, typer.Option("--concurrency", min=1, metavar="N", help="Attempts in flight in a process. Default: 32.")
]
Cache: TypeAlias = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Keep replies here; a call that is repeated costs nothing."),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Set: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change one setting, as agents.SCAgent.samples=7; repeatable."),
]
