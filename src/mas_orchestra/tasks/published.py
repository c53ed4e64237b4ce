"""Published sets: where each one comes from, and how its file is found."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from mas_orchestra.errors import FileFormatError, UnreachableError, UsageError
from mas_orchestra.masbench.hub import fetch
from mas_orchestra.tasks.rows import FORMATS, Row, read_rows
from mas_orchestra.tasks.task import Task

__all__ = ["PublishedSet", "cell"]

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_SHARD = re.compile(r"-[0-9]{5}-of-[0-9]{5}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSet:
    """A set that others publish.

    Attributes:
        hub_id: The dataset on the hub that is read when no other place is given.
        path_words: Words that the path of its file holds; they tell it from other splits in the same folder.
        licence: What its publisher says.
        to_task: One row → a task; ``rng`` is for whatever is shuffled in it.
    """

    name: str
    hub_id: str
    path_words: tuple[str, ...]
    licence: str
    to_task: Callable[[Row, Random], Task]

    def rows(self, place: str) -> Iterator[Row]:
        """The rows of a file, of a folder, or of a dataset on the hub; of the usual dataset for an empty place.

        Raises:
            UsageError: Nothing there, or more than one file could be meant.
            UnreachableError: The hub cannot be reached; says which file to put where.
            FileFormatError: A file that cannot be read.
        """
        for file in self._files(place):
            yield from read_rows(file)

    def _files(self, place: str) -> list[Path]:
        path = Path(place)
        if place and path.is_file():
            return [path]
        if place and not path.exists() and not _HUB_ID.fullmatch(place):
            raise UsageError(f"{self.name}:{place}: no such file or folder. {self._advice}")
        return self._of_folder(path if place and path.exists() else self._fetched(place or self.hub_id))

    def _of_folder(self, folder: Path) -> list[Path]:
        found = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
        wanted = {name: file for name, file in found.items() if self._is_wanted(name)}
        if len({_SHARD.sub("", file.stem) for file in wanted.values()}) != 1:
            known = ", ".join(name for name, file in found.items() if file.suffix in FORMATS) or "no file of tasks"
            raise UsageError(f"{folder}: cannot tell which file is meant of: {known}. {self._advice}")
        return list(wanted.values())

    def _is_wanted(self, path: str) -> bool:
        is_hidden = any(part.startswith(".") for part in path.split("/"))
        return path.endswith(FORMATS) and not is_hidden and all(word in path for word in self.path_words)

    def _fetched(self, hub_id: str) -> Path:
        try:
            return fetch(hub_id, is_wanted=self._is_wanted)
        except UnreachableError as error:
            raise UnreachableError(
                f"{self.name}: cannot get the dataset {hub_id} from the hub ({error.__cause__}). {self._advice}",
                endpoint=error.endpoint,
            ) from error

    @property
    def _advice(self) -> str:
        words = f" with {' and '.join(map(repr, self.path_words))} in its path" if self.path_words else ""
        return (
            f"Without a network: download the file of https://huggingface.co/datasets/{self.hub_id}{words} where there "
            f"is one, and give it as {self.name}:FILE (one of {', '.join(FORMATS)})."
        )


def cell(row: Row, *names: str) -> str:
    """The text in the first of these columns that the row has.

    Raises:
        FileFormatError: It has none of them, or nothing stands in it.
    """
    for name in names:
        if name in row.record:
            value = row.record[name]
            if value is not None and (text := str(value).strip()):
                return text
            raise FileFormatError(f"{row.place}: nothing in the column {name!r}; fill it, or remove the row")
    known = ", ".join(row.record) or "none"
    raise FileFormatError(f"{row.place}: expected the column {' or '.join(map(repr, names))}; its columns are {known}")
