"""What to build, as a value: which files, which families in each; and the manifest of what was built."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from mas_orchestra.errors import UsageError
from mas_orchestra.masbench import axes
from mas_orchestra.masbench.export import Format
from mas_orchestra.masbench.generate import Recipe, family_size
from mas_orchestra.masbench.problem import GENERATOR_VERSION, AttackKind, Axis, Parameters, Split, Style

__all__ = ["BuildReport", "BuildRequest", "BuiltFile", "Chunk", "Family", "Shard"]

_CHUNK = 64
"""Rows that a worker makes at a time."""
_ATTACKED = frozenset({Axis.ROBUSTNESS, Axis.COMBINE})


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BuildRequest(_Record):
    """What to build; two equal requests give equal bytes.

    Attributes:
        axes: One folder each.
        values: Of every axis; ``None`` for all that its sweep has.
        parameters: Of the axis ``combine``, which has no sweep.
        train: Rows for each value of each axis.
        test: Likewise. Multiples of 23 make the answers exactly flat.
        attacks: Kinds used in turn where something is attacked.
    """

    format: Format = Format.JSONL
    axes: tuple[Axis, ...] = axes.MAIN_AXES
    values: tuple[int, ...] | None = None
    parameters: Parameters | None = None
    train: int = Field(default=920, ge=0)
    test: int = Field(default=230, ge=0)
    style: Style = Style.EXACT
    attacks: tuple[AttackKind, ...] = (AttackKind.NOTE,)
    needle: bool = False
    abstract: bool = False
    generator_version: str = GENERATOR_VERSION

    def shards(self) -> list["Shard"]:
        """The files to write, each with its families in order.

        Raises:
            UsageError: Nothing to build, infeasible parameters, or an option that none of the axes uses.
        """
        shards = [
            Shard(Path(axis) / f"{split}{self.format.suffix}", tuple(self._families(axis, split)), rows)
            for axis in dict.fromkeys(self.axes)
            for split, rows in ((Split.TRAIN, self.train), (Split.TEST, self.test))
            if rows
        ]
        if not shards:
            raise UsageError("nothing to build: give at least one axis and at least one row for train or test")
        self._check_rows()
        self._check_options()
        return shards

    @property
    def command(self) -> str:
        """The command that builds this."""
        size = self.parameters.model_dump().items() if self.parameters else ()
        options = {
            "format": [self.format],
            "axis": self.axes,
            "values": [",".join(map(str, self.values))] if self.values else [],
            "size": [",".join(f"{name}={value}" for name, value in size)] if size else [],
            "train": [str(self.train)],
            "test": [str(self.test)],
            "style": [self.style],
            "attack": self.attacks,
        }
        words = [f"--{name} {value}" for name, values in options.items() for value in values]
        flags = ["--needle"] * self.needle + ["--abstract"] * self.abstract
        return " ".join(["mas bench build --out DIR", *words, *flags])

    def _check_rows(self) -> None:
        for split, rows in ((Split.TRAIN, self.train), (Split.TEST, self.test)):
            if rows > (most := family_size(split)):
                raise UsageError(f"{split} {rows} rows for each value: there are {most} different ones at most")

    def _check_options(self) -> None:
        """What was asked for and would change nothing is a misunderstanding, not a build."""
        if self.parameters and Axis.COMBINE not in self.axes:
            raise UsageError("a size is for the axis combine, all others have sweeps: add the axis combine, or no size")
        if self.values is not None and not set(self.axes) - {Axis.COMBINE}:
            raise UsageError("axis combine has no values: give its size only")
        is_attack_chosen = self.needle or self.attacks != (AttackKind.NOTE,)
        if is_attack_chosen and not _ATTACKED & set(self.axes):
            attacked = ", ".join(sorted(_ATTACKED))
            raise UsageError(f"attacks and needles are for the axes {attacked}: add one of them, or leave these out")

    def _families(self, axis: Axis, split: Split) -> Iterator["Family"]:
        for value, parameters in self._sizes(axis):
            kinds: tuple[AttackKind | None, ...] = (
                self.attacks if axis in _ATTACKED and self._attacks(parameters) else (None,)
            )
            yield tuple(
                Recipe(
                    axis=axis,
                    value=value,
                    parameters=parameters,
                    split=split,
                    style=self.style,
                    attack=kind,
                    needle=self.needle and kind is not None,
                    abstract=self.abstract,
                )
                for kind in kinds
            )

    def _attacks(self, parameters: Parameters) -> bool:
        return parameters.r > 0 or self.needle

    def _sizes(self, axis: Axis) -> list[tuple[int | None, Parameters]]:
        if axis is not Axis.COMBINE:
            return list(axes.sweep(axis, self.values).items())
        if self.parameters is None:
            raise UsageError("axis combine has no sweep: give its parameters, for example d=5,b=2,n=8,T=24,h=3,p=1,r=0")
        return [(None, self.parameters)]


Family = tuple[Recipe, ...]
"""Recipes of one size, used in turn by index."""


class Shard(NamedTuple):
    """One file of a build."""

    path: Path
    families: tuple[Family, ...]
    rows: int
    """For each family."""

    @property
    def total(self) -> int:
        """Rows of the whole file."""
        return self.rows * len(self.families)

    def chunks(self, layout: Format) -> Iterator["Chunk"]:
        """The file's rows in order, a worker's helping at a time."""
        for family in self.families:
            for start in range(0, self.rows, _CHUNK):
                yield Chunk(family, start, min(start + _CHUNK, self.rows), layout)


class Chunk(NamedTuple):
    """Consecutive rows of one family."""

    family: Family
    start: int
    stop: int
    layout: Format


class BuiltFile(_Record):
    """A finished file."""

    path: str
    rows: int
    bytes: int
    sha256: str


class BuildReport(_Record):
    """The manifest of a finished build."""

    request: BuildRequest
    files: tuple[BuiltFile, ...]

    @property
    def rows(self) -> int:
        """Rows of all files."""
        return sum(file.rows for file in self.files)
