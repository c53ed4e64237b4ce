"""Whether the files of a built set are those that were built, by the list that the build left beside them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import orjson

from mas_orchestra.masbench.row_files import row_files

__all__ = ["file_faults"]

_LIST = "build.json"


def file_faults(folder: Path) -> Iterator[str]:
    """Files that are missing, changed or added since the build; nothing where there is no list."""
    path = folder / _LIST
    if not path.is_file():
        return
    listed = _listed(path)
    if listed is None:
        yield f"{path}: expected the list of files that a build writes, got something else"
        return
    for name, digest in listed.items():
        file = folder / name
        if not file.is_file():
            yield f"{name} is missing"
        elif _sha256(file) != digest:
            yield f"{name} has changed since it was built"
    present = {file.relative_to(folder).as_posix() for file in row_files(folder)}
    yield from (f"{name} was not built with the others" for name in sorted(present - listed.keys()))


def _listed(path: Path) -> dict[str, str] | None:
    """SHA-256 by file name, or ``None`` when the list is not one."""
    try:
        record = orjson.loads(path.read_bytes())
        return {str(entry["path"]): str(entry["sha256"]) for entry in record["files"]}
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
