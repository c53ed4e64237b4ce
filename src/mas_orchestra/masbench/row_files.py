"""Which files of a path hold rows."""

from pathlib import Path

from mas_orchestra.errors import UsageError

__all__ = ["row_files"]

_SUFFIXES = frozenset({".jsonl", ".ndjson", ".parquet"})


def row_files(path: Path) -> list[Path]:
    """The file itself, or every JSONL and Parquet file below a folder, sorted; never part of an unfinished build.

    Raises:
        UsageError: There is none, or the path belongs to a build that was interrupted.
    """
    if path.suffix == ".unfinished" or any(_is_partial(part) for part in path.absolute().parts):
        raise UsageError(f"{path} is an unfinished build: run its `mas bench build` again, it goes on where it stopped")
    if path.is_file():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix in _SUFFIXES and _is_shown(file, path))
    if not found:
        raise UsageError(f"{path} holds no .jsonl or .parquet file; build a set with: mas bench build --out DIR")
    return found


def _is_partial(part: str) -> bool:
    return part.startswith(".") and part.endswith(".partial")


def _is_shown(file: Path, folder: Path) -> bool:
    """Whether it is a file outside hidden folders, where tools and unfinished builds keep their own."""
    return file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
