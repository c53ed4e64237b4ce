"""``mas eval``: which system is better on these tasks, at what cost, and how sure is that."""

from pathlib import Path
from typing import Annotated

import typer

from mas_orchestra.cli import eval_options as options

__all__ = ["eval_app"]

eval_app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)

RUN_EXAMPLES = """\b
Examples:
  mas eval run recipes/masbench-quick.toml
  mas eval run --system cot --system sc:5 --system "orchestrated dom=high" --tasks jsonl:mine.jsonl -k 4
  mas eval run recipes/paper-main-table.toml --model openai:gpt-4o-mini --max-cost 20 --stop-at-cap
  mas eval run recipes/masbench-full.toml --workers 4 --out runs/full

\b
Ctrl-C ends a run cleanly; the same command, or `mas eval resume`, goes on with it.
Exit codes: 0 every attempt has a score, 1 some have none or a cap was reached, 2 wrong usage, 130 interrupted.
"""
RESUME_EXAMPLES = """\b
Examples:
  mas eval resume runs/masbench-quick
  mas eval resume runs/full --max-cost 40 --workers 4
"""
ESTIMATE_EXAMPLES = """\b
Examples:
  mas eval estimate recipes/masbench-quick.toml
  mas eval estimate runs/masbench-quick --json
"""
REPORT_EXAMPLES = """\b
Examples:
  mas eval report runs/masbench-quick
  mas eval report runs/weak runs/strong --out report
"""


@eval_app.callback()
def evaluation() -> None:
    """Compare systems on tasks; keep, resume and report runs."""


@eval_app.command(epilog=RUN_EXAMPLES)
def run(
    config: options.ConfigFile = None,
    *,
    system: options.System = None,
    tasks: options.TaskSpec = None,
    model: options.Model = None,
    orchestrator: options.Orchestrator = None,
    attempts: options.Attempts = None,
    max_tasks: options.MaxTasks = None,
    seed: options.Seed = None,
    out: options.Out = None,
    store: options.StoreUrl = None,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_time: options.MaxTime = None,
    stop_at_cap: options.StopAtCap = False,
    workers: options.Workers = 1,
    shard: options.Shard = None,
    concurrency: options.Concurrency = None,
    cache: options.Cache = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    overrides: options.Set = None,
) -> None:
    """Run every system on every task, several times, and keep all of it."""
    from mas_orchestra.cli.eval_run import Start, asked_config, begin

    given = {
        "systems": system,
        "tasks": tasks,
        "model": model,
        "orchestrator": orchestrator,
        "attempts": attempts,
        "max_tasks": max_tasks,
        "seed": seed,
        "store": store,
        "concurrency": concurrency,
        "cache": cache,
        "caps": _caps(max_calls, max_tokens, max_cost, max_time),
    }
    asked = asked_config(config, given, overrides or ())
    start = Start(workers=workers, shard=shard, stop_at_cap=stop_at_cap, as_json=as_json, quiet=quiet)
    raise typer.Exit(begin(out or Path("runs") / asked.name, asked, start))


@eval_app.command(epilog=RESUME_EXAMPLES)
def resume(
    run: options.Run,
    *,
    max_calls: options.MaxCalls = None,
    max_tokens: options.MaxTokens = None,
    max_cost: options.MaxCost = None,
    max_time: options.MaxTime = None,
    stop_at_cap: options.StopAtCap = False,
    workers: options.Workers = 1,
    shard: options.Shard = None,
    concurrency: options.Concurrency = None,
    cache: options.Cache = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a run: what has a score stays, what has none is tried again.

    Caps are those that the run was begun with, unless new ones are given; they count what was spent before.
    """
    from mas_orchestra.cli.eval_run import Start, go_on

    caps = _caps(max_calls, max_tokens, max_cost, max_time)
    given = {"concurrency": concurrency, "cache": cache, "caps": caps}
    start = Start(workers=workers, shard=shard, stop_at_cap=stop_at_cap, as_json=as_json, quiet=quiet)
    raise typer.Exit(go_on(run, given, start))


@eval_app.command(epilog=ESTIMATE_EXAMPLES)
def estimate(
    config: Annotated[
        Path | None, typer.Argument(metavar="[CONFIG.toml|RUN]", help="An evaluation, or a run that goes on.")
    ] = None,
    *,
    system: options.System = None,
    tasks: options.TaskSpec = None,
    model: options.Model = None,
    orchestrator: options.Orchestrator = None,
    attempts: options.Attempts = None,
    max_tasks: options.MaxTasks = None,
    as_json: options.Json = False,
    overrides: options.Set = None,
) -> None:
    """Reckon calls, tokens and dollars, expected and at worst; nothing is asked and nothing is written."""
    from mas_orchestra.cli.eval_look import show_estimate

    given = {
        "systems": system,
        "tasks": tasks,
        "model": model,
        "orchestrator": orchestrator,
        "attempts": attempts,
        "max_tasks": max_tasks,
    }
    show_estimate(config, given, overrides or (), as_json=as_json)


@eval_app.command(epilog="\b\nExamples:\n  mas eval rescore runs/masbench-quick\n")
def rescore(run: options.Run, *, as_json: options.Json = False) -> None:
    """Score a stored run anew, without asking a system again."""
    from mas_orchestra.cli.eval_look import rescore_run

    rescore_run(run, as_json=as_json)


@eval_app.command(epilog=REPORT_EXAMPLES)
def report(
    runs: options.Runs,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Default: report in the first run's folder.")
    ] = None,
) -> None:
    """Write one self-contained HTML page with tables, figures and verdicts."""
    from mas_orchestra.cli.eval_look import write_report

    write_report(runs, out)


@eval_app.command(epilog="\b\nExamples:\n  mas eval export runs/masbench-quick --format parquet --out data/quick\n")
def export(
    run: options.Run,
    *,
    layout: Annotated[
        options.ExportChoice, typer.Option("--format", help="File format.")
    ] = options.ExportChoice.PARQUET,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the files.")],
    as_json: options.Json = False,
) -> None:
    """Write attempts, steps, calls and tasks as files that data tools open."""
    from mas_orchestra.cli.eval_look import export_to

    export_to(run, layout.value, out, as_json=as_json)


@eval_app.command("list", epilog="\b\nExamples:\n  mas eval list\n  mas eval list runs --json\n")
def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where runs are.")] = Path("runs"),
    *,
    as_json: options.Json = False,
) -> None:
    """List the runs in a folder and how far they are."""
    from mas_orchestra.cli.eval_look import show_runs

    show_runs(folder, as_json=as_json)


def _caps(calls: int | None, tokens: int | None, cost: float | None, time: float | None) -> dict[str, float] | None:
    """The caps that were given, as the table of the configuration."""
    given = {"max_calls": calls, "max_tokens": tokens, "max_cost_usd": cost, "max_time_s": time}
    return {name: value for name, value in given.items() if value is not None} or None
