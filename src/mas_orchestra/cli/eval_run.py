"""How ``mas eval run`` and ``resume`` go: check everything that costs nothing, work, say what came of it."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from mas_orchestra.cli.boundary import ExitCode, complain
from mas_orchestra.cli.deliver import print_json, print_text
from mas_orchestra.cli.eval_live import shown
from mas_orchestra.cli.eval_view import estimate_lines, scoreboard_lines
from mas_orchestra.cli.interrupt import cancelling
from mas_orchestra.cli.solve_models import choose_models
from mas_orchestra.config import load_settings
from mas_orchestra.errors import BudgetError, UsageError
from mas_orchestra.evaluate.config import EvalConfig, read_eval_config
from mas_orchestra.evaluate.harness import Ending
from mas_orchestra.evaluate.launch import Desk, Shard, open_desk
from mas_orchestra.evaluate.progress import Tallies
from mas_orchestra.evaluate.run_folder import RunFolder
from mas_orchestra.evaluate.workers import work_in_processes
from mas_orchestra.run import run_async
from mas_orchestra.types import JsonValue

__all__ = ["Start", "asked_config", "begin", "go_on", "read_shard", "summary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How this start of a run is to go."""

    workers: int
    shard: str | None
    stop_at_cap: bool
    as_json: bool
    quiet: bool


def asked_config(file: Path | None, given: Mapping[str, object], overrides: Sequence[str]) -> EvalConfig:
    """The configuration that options, file and settings make.

    Raises:
        UsageError: It names no system, or something in it is wrong.
    """
    options: dict[str, JsonValue] = {name: _plain(value) for name, value in given.items() if value is not None}
    if file is None and "systems" not in options:
        raise UsageError("nothing to compare: give an evaluation's file, or --system and --tasks")
    config = read_eval_config(file, overrides, given=options)
    chosen = choose_models(config.model, config.orchestrator, load_settings())
    if chosen.is_fallback:
        complain(f"No model was named, so the embedded {chosen.model} answers: small, free, and often wrong.")
    return config.model_copy(update={"model": chosen.model, "orchestrator": chosen.orchestrator})


def _plain(value: object) -> JsonValue:
    match value:
        case Path():
            return str(value)
        case list():
            return [_plain(inner) for inner in value]
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case str() | int() | float() | None:
            return value
        case _:
            raise TypeError(f"no option has a value like {value!r}")


def begin(path: Path, config: EvalConfig, start: Start) -> ExitCode:
    """Begin a run, or go on with the same one."""
    folder = RunFolder(path)
    read_shard(start.shard)
    with folder.locked():
        is_new = not folder.exists
        folder.begin(config)
        return _work(folder, config, start, is_new=is_new)


def go_on(path: Path, given: Mapping[str, object], start: Start) -> ExitCode:
    """Go on with a run by the configuration in its folder, what `given` says over it."""
    folder = RunFolder(path)
    stored = folder.config()
    changes = {name: value for name, value in given.items() if value is not None}
    caps = changes.pop("caps", None)
    config = EvalConfig.model_validate(
        stored.model_dump()
        | {name: _plain(value) for name, value in changes.items()}
        | ({"caps": {**stored.caps.model_dump(), **caps}} if isinstance(caps, dict) else {})
    )
    with folder.locked():
        return _work(folder, config, start)


def _work(folder: RunFolder, config: EvalConfig, start: Start, *, is_new: bool = False) -> ExitCode:
    with ExitStack() as stack:
        desk = _opened(folder, config, start, stack, is_new=is_new)
        tallies = desk.tallies()
        ending = run_async(_run(desk, folder, tallies, start))
        code = _code(ending)
        if start.as_json:
            print_json(summary(desk, folder, ending))
        else:
            print_text("\n".join(scoreboard_lines(desk.tallies().by_system)))
        _say_ending(folder, ending, quiet=start.quiet)
        return code


def _opened(folder: RunFolder, config: EvalConfig, start: Start, stack: ExitStack, *, is_new: bool) -> Desk:
    """The run, after everything that costs nothing was checked; a new one that is refused leaves nothing behind."""
    try:
        desk = open_desk(folder, config, stack=stack)
        if not start.quiet:
            for line in estimate_lines(desk.estimate(), desk.store.spent()):
                complain(line)
        desk.check_caps(stop_at_cap=start.stop_at_cap)
    except (UsageError, BudgetError):
        if is_new:
            stack.close()
            folder.discard(config)
        raise
    return desk


async def _run(desk: Desk, folder: RunFolder, tallies: Tallies, start: Start) -> Ending | None:
    """The ending, or ``None`` when it was interrupted."""
    shard = read_shard(start.shard)
    try:
        async with shown(tallies, sys.stderr, quiet=start.quiet) as watch:
            working = (
                desk.work(watch, desk.budget(desk.config.caps, desk.store.spent()), shard)
                if start.workers == 1
                else work_in_processes(desk, folder, watch, start.workers, shard)
            )
            task = asyncio.create_task(working)
            try:
                with cancelling(task, complain):
                    return await task
            except asyncio.CancelledError:
                return None
    finally:
        await desk.models.close()


def read_shard(text: str | None) -> Shard:
    """The part of the tasks that ``I/N`` means, all without it.

    >>> read_shard("2/4")
    Shard(index=1, count=4)
    """
    if text is None:
        return Shard()
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count) <= 10_000):
        raise UsageError(f"--shard {text}: expected I/N with I from 1 to N, as 1/4")
    return Shard(index=int(index) - 1, count=int(count))


def _code(ending: Ending | None) -> ExitCode:
    if ending is None:
        return ExitCode.INTERRUPTED
    return ExitCode.FAILED if ending.stopped or ending.unscored else ExitCode.DONE


def _say_ending(folder: RunFolder, ending: Ending | None, *, quiet: bool) -> None:
    resume = f"mas eval resume {folder.path}"
    if ending is None:
        complain(f"Interrupted; what is stored is safe. Go on with: {resume}")
    elif ending.stopped:
        complain(f"Error: stopped: {ending.stopped}. Go on with: {resume}")
    elif ending.unscored:
        complain(f"Error: {ending.unscored} attempts have no score. Try them again with: {resume}")
    elif not quiet:
        complain(f"run: {folder.path}    report: mas eval report {folder.path}")


def summary(desk: Desk, folder: RunFolder, ending: Ending | None) -> dict[str, JsonValue]:
    """The object that ``mas eval run --json`` prints."""
    spent = desk.store.spent()
    if ending is None:
        status = "interrupted"
    elif ending.stopped:
        status = "stopped"
    else:
        status = "unscored" if ending.unscored else "done"
    return {
        "run": str(folder.path),
        "status": status,
        "stopped": ending.stopped if ending else None,
        "attempts_per_task": desk.config.attempts,
        "tasks": len(desk.tasks),
        "systems": [
            {
                "system": name,
                "total": tally.total,
                "scored": tally.scored,
                "errored": tally.errored,
                "accuracy": tally.accuracy,
                "cost_usd": tally.cost_usd,
            }
            for name, tally in desk.tallies().by_system.items()
        ],
        "spent": {"calls": spent.calls, "tokens": spent.tokens, "cost_usd": spent.cost_usd},
    }
