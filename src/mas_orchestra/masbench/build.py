"""Builds a set of rows into a folder: streamed, on several cores, all or nothing, resumable."""

import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from mas_orchestra.errors import FileFormatError, UsageError
from mas_orchestra.masbench.card import data_card
from mas_orchestra.masbench.export import Format, open_writer, require
from mas_orchestra.masbench.request import BuildReport, BuildRequest, BuiltFile, Shard
from mas_orchestra.masbench.workers import Maker, makers

__all__ = ["MANIFEST", "Progress", "build", "read_manifest"]

MANIFEST = "build.json"
"""Written last: a folder without it is no finished build."""

Progress = Callable[[int, int], None]
"""Told how many rows of how many are done."""


def build(out: Path, request: BuildRequest, *, workers: int = 1, on_progress: Progress | None = None) -> BuildReport:
    """Build into the new folder `out`; a folder that already holds this very build is left alone.

    Rows are written into a hidden folder beside it, which takes the name `out` only when everything is there. An
    interrupted build leaves that folder; the same build started again goes on from its finished files.

    Raises:
        UsageError: Infeasible request, or `out` holds something else.
        FileFormatError: The disk refuses, or another process is building the same.
        MissingExtraError: Parquet without pyarrow.
    """
    require(request.format)
    shards = request.shards()
    if finished := _finished(out, request):
        return finished
    partial = out.parent / f".{out.name}.{_digest(request)}.partial"
    try:
        partial.mkdir(parents=True, exist_ok=True)
        with _only_builder(partial):
            _write_shards(partial, shards, request.format, workers, on_progress)
            report = _seal(partial, shards, request)
        if out.is_dir():
            out.rmdir()
        partial.replace(out)
    except OSError as error:
        raise FileFormatError(
            f"cannot build into {out}: {error}. Free the place or choose another folder, then run again."
        ) from error
    return report


def _digest(request: BuildRequest) -> str:
    return hashlib.sha256(request.model_dump_json().encode()).hexdigest()[:12]


def _finished(out: Path, request: BuildRequest) -> BuildReport | None:
    """The manifest of `out` if it is this build, ``None`` if there is nothing."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    if not (out / MANIFEST).is_file():
        raise UsageError(f"{out} already exists and holds no build: choose a new folder for --out")
    report = read_manifest(out)
    asked, held = request.model_dump(), report.request.model_dump()
    if different := [name for name in asked if asked[name] != held[name]]:
        raise UsageError(
            f"{out} holds another build (it differs in {', '.join(different)}): choose another --out, or delete it"
        )
    for file in report.files:
        if not (out / file.path).is_file() or (out / file.path).stat().st_size != file.bytes:
            raise FileFormatError(f"{out / file.path} is missing or not as built: delete {out} and build it again")
    return report


def read_manifest(folder: Path) -> BuildReport:
    """The manifest of a built folder.

    Raises:
        FileFormatError: Missing or not a manifest of this version.
    """
    path = folder / MANIFEST
    try:
        return BuildReport.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise FileFormatError(
            f"{path} is no manifest that this version reads: build the set again. ({error})"
        ) from error


@contextmanager
def _only_builder(partial: Path) -> Iterator[None]:
    """Holds the folder's lock, which the system frees when a process dies."""
    lock = partial / "lock"
    with lock.open("wb") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise FileFormatError(f"another process is building {partial} right now: wait for it, or end it") from None
        yield
    lock.unlink()


if sys.platform == "win32":

    def _lock(descriptor: int) -> None:
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write_shards(
    partial: Path, shards: list[Shard], layout: Format, workers: int, on_progress: Progress | None
) -> None:
    total = sum(shard.total for shard in shards)
    done = 0
    progress = on_progress or _silent
    with makers(workers) as pool:
        for shard in shards:
            path = partial / shard.path
            if not path.exists():
                path.parent.mkdir(exist_ok=True)
                for rows in _write_shard(path, shard, layout, pool):
                    progress(done + rows, total)
            done += shard.total
            progress(done, total)


def _silent(done: int, total: int) -> None:
    del done, total


def _write_shard(path: Path, shard: Shard, layout: Format, pool: Maker) -> Iterator[int]:
    """Write one file under another name and rename it at the end; yields the rows so far."""
    unfinished = path.with_suffix(".unfinished")
    rows = 0
    with open_writer(unfinished, layout) as writer:
        for made in pool(shard.chunks(layout)):
            writer.write(made)
            rows += len(made)
            yield rows
    unfinished.replace(path)


def _seal(partial: Path, shards: list[Shard], request: BuildRequest) -> BuildReport:
    """Write what describes the build: the card and, last of all, the manifest."""
    files = tuple(_describe(partial, shard) for shard in shards)
    report = BuildReport(request=request, files=files)
    rows = {file.path: file.rows for file in files}
    card = data_card(request.format, request.command, request.generator_version, rows)
    (partial / "README.md").write_text(card, encoding="utf-8")
    (partial / MANIFEST).write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return report


def _describe(partial: Path, shard: Shard) -> BuiltFile:
    path = partial / shard.path
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return BuiltFile(path=shard.path.as_posix(), rows=shard.total, bytes=path.stat().st_size, sha256=sha256)
