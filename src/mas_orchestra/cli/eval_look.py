"""``mas eval estimate|rescore|report|export|list``: looks at runs without running anything."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from mas_orchestra.cli.boundary import complain
from mas_orchestra.cli.deliver import print_json, print_text
from mas_orchestra.cli.eval_run import asked_config
from mas_orchestra.cli.eval_view import estimate_lines, table
from mas_orchestra.cli.figures import money
from mas_orchestra.evaluate.export import ExportFormat, export_run
from mas_orchestra.evaluate.launch import open_desk
from mas_orchestra.evaluate.rescore import rescore
from mas_orchestra.evaluate.run_folder import RunFolder, find_runs
from mas_orchestra.evaluate.store import Store
from mas_orchestra.evaluate.store_engine import StoreError
from mas_orchestra.types import JsonValue

__all__ = ["export_to", "rescore_run", "show_estimate", "show_runs", "write_report"]


def show_estimate(place: Path | None, given: Mapping[str, object], overrides: Sequence[str], *, as_json: bool) -> None:
    """What an evaluation, or the rest of a run, will take."""
    with ExitStack() as stack:
        folder = RunFolder(place) if place is not None and place.is_dir() else None
        if folder is not None:
            config = folder.config()
        else:
            config = asked_config(place, given, overrides).model_copy(update={"store": None})
            folder = RunFolder(Path(stack.enter_context(TemporaryDirectory(prefix="mas-estimate-"))) / config.name)
            folder.begin(config)
        desk = open_desk(folder, config, stack=stack)
        found, spent = desk.estimate(), desk.store.spent()
        if as_json:
            print_json({"systems": [asdict(one) for one in found.systems], "total": asdict(found.total)})
        else:
            print_text("\n".join(estimate_lines(found, spent)))


def rescore_run(path: Path, *, as_json: bool) -> None:
    """Score a run anew."""
    folder = RunFolder(path)
    config = folder.config()
    with ExitStack() as stack, folder.locked():
        desk = open_desk(folder, config, stack=stack, any_release=True)

        async def work() -> dict[str, JsonValue]:
            try:
                return asdict(await rescore(desk.store, desk.score, desk.scorers))
            finally:
                await desk.models.close()

        done = asyncio.run(work())
    if as_json:
        print_json({"run": str(path), **done})
    else:
        print_text(
            f"{done['attempts']} attempts scored anew, {done['changed']} changed, {done['unscored']} without a score"
        )


def write_report(paths: Sequence[Path], out: Path | None) -> None:
    """One page on one or several runs."""
    from mas_orchestra.evaluate.report import write_report as write

    results = []
    for path in paths:
        with _store(RunFolder(path)) as store:
            results.append(store.results())
    print_text(str(write(results, out or paths[0] / "report")))


def export_to(path: Path, kind: str, out: Path, *, as_json: bool) -> None:
    """Files of a run's tables."""
    with _store(RunFolder(path)) as store:
        written = export_run(store, out, cast("ExportFormat", kind))
    if as_json:
        print_json({str(file): rows for file, rows in written.items()})
    else:
        print_text("\n".join(f"{rows:>9,}  {file}" for file, rows in written.items()))


def show_runs(root: Path, *, as_json: bool) -> None:
    """Runs by name, with how far they are; one that cannot be read is listed with the reason."""
    found = [_row(folder) for folder in find_runs(root)]
    if as_json:
        print_json({"runs": found})
    elif not found:
        complain(f"no runs in {root}; begin one with `mas eval run`")
    else:
        rows: list[tuple[str, ...]] = [("run", "created", "systems", "tasks", "scored", "errored", "cost")]
        rows += [tuple(_cell(name, one[name]) for name in _COLUMNS) for one in found]
        print_text("\n".join(table(rows)))


_COLUMNS = ("run", "created_at", "systems", "tasks", "scored", "errored", "cost_usd")


def _cell(name: str, value: JsonValue) -> str:
    if name == "cost_usd":
        return money(float(str(value)) if value is not None else None)
    return "-" if value is None else str(value)


def _row(folder: RunFolder) -> dict[str, JsonValue]:
    row: dict[str, JsonValue] = dict.fromkeys(_COLUMNS)
    row |= {"run": str(folder.path), "error": None}
    try:
        with _store(folder) as store:
            head, tallies, spent = store.head(), store.tallies(), store.spent()
            return row | {
                "created_at": head.created_at,
                "systems": len(head.systems),
                "tasks": len(store.tasks()),
                "scored": sum(tally.scored for tally in tallies.values()),
                "errored": sum(tally.errored for tally in tallies.values()),
                "cost_usd": spent.cost_usd,
            }
    except StoreError as error:
        complain(f"{folder.path}: {error}")
        return row | {"error": str(error)}


def _store(folder: RunFolder) -> Store:
    return folder.store(folder.config())
