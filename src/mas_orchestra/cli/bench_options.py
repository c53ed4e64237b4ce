"""What the commands of ``mas bench`` have in common: options, and how their texts are read."""

from pathlib import Path
from typing import Annotated

import typer

from mas_orchestra.cli.boundary import complain
from mas_orchestra.cli.deliver import print_text
from mas_orchestra.errors import FileFormatError, UsageError
from mas_orchestra.masbench.axes import VALUES
from mas_orchestra.masbench.problem import Parameters, Split, Style

__all__ = [
    "AsJson",
    "OneAxis",
    "OneSplit",
    "SizeOption",
    "Source",
    "StyleOption",
    "read_parameters",
    "read_values",
    "write_page",
]

Source = Annotated[
    str, typer.Argument(metavar="PATH|HUB-ID", help="A file, a folder of files, or owner/name on the hub.")
]
OneAxis = Annotated[str | None, typer.Option("--axis", metavar="AXIS", help="Only rows of this axis.")]
OneSplit = Annotated[Split | None, typer.Option("--split", help="Only rows of this split.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
StyleOption = Annotated[
    Style, typer.Option(help="exact states modulus and rules; paper only what the paper's set does.")
]
SizeOption = Annotated[str | None, typer.Option(metavar="d=5,b=2,…", help="Of the axis combine: d, b, n, T; h, p, r.")]


def read_values(text: str) -> tuple[int, ...]:
    """``2..12`` and ``2,4,6``, and both mixed."""
    found: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        if not first.isdecimal() or (dots and not last.isdecimal()):
            raise UsageError(f"--values {text!r}: {part!r} is neither a number nor a range; write 2..12 or 2,4,6")
        lowest, highest = int(first), int(last if dots else first)
        if lowest > highest:
            raise UsageError(f"--values {text!r}: {part!r} runs backwards; write {highest}..{lowest}")
        if highest >= VALUES.stop:
            raise UsageError(f"--values {text!r}: {highest} is no value; every axis ends at {VALUES.stop - 1}")
        found += range(lowest, highest + 1)
    return tuple(dict.fromkeys(found))


def read_parameters(text: str) -> Parameters:
    """``d=5,b=2,n=8,T=24`` and, where wanted, h, p and r."""
    pairs = [part.strip().partition("=")[::2] for part in text.split(",")]
    given = dict(pairs)
    if len(given) < len(pairs):
        raise UsageError(f"--size {text!r}: give each letter once")
    known = Parameters.model_fields
    if unknown := [name for name in given if name not in known]:
        raise UsageError(f"--size {text!r}: unknown {', '.join(unknown)}; known: {', '.join(known)}")
    if missing := [name for name, spec in known.items() if spec.is_required() and name not in given]:
        raise UsageError(f"--size {text!r}: {', '.join(missing)} missing; write for example d=5,b=2,n=8,T=24")
    if wrong := [name for name, number in given.items() if not number.isdecimal() or (number == "0" and name != "r")]:
        raise UsageError(f"--size {text!r}: {', '.join(wrong)} must be a whole number from 1 up (r from 0)")
    return Parameters(**{name: int(number) for name, number in given.items()})


def write_page(text: str, out: Path | None) -> None:
    """A text on stdout, or in a file."""
    if out is None:
        print_text(text.rstrip("\n"))
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileFormatError(f"cannot write {out}: {error.strerror or error}") from error
    complain(f"written: {out}")
