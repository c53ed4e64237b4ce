"""Proof of a built set, row by row and as a whole, in one pass.

Every row is held to its own text (`check_row`). What only the whole set can show is kept as digests of a few bytes a
row: an id or a text that stands twice, a template or a name that train and test share, mixed generator versions,
answers that are not uniform. Files that changed since the build are named too.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mas_orchestra.masbench.check_files import file_faults
from mas_orchestra.masbench.check_row import CheckedRow, check_row
from mas_orchestra.masbench.layers import CATEGORY_WORDS
from mas_orchestra.masbench.problem import Split
from mas_orchestra.masbench.questions import Subject
from mas_orchestra.masbench.read_rows import Row, read_rows
from mas_orchestra.masbench.system import MODULUS, UnsolvableTextError
from mas_orchestra.masbench.template import template_digest

__all__ = ["Fault", "Verification", "Verifier", "verify"]

_LINKS_OF_A_LARGE_SIZE = 3
"""Links that every draw of a size has; with fewer there are too few templates to divide."""

_LEAST_ANSWERS = 5 * MODULUS
"""Answers before a chi-square test means anything: five expected in each cell."""

_CHI_SQUARE_99 = 40.289
"""99 % quantile of the chi-square distribution with 22 degrees of freedom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: with one row, or with the set (`id` and `place` are then empty)."""

    id: str
    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a pass found.

    Attributes:
        rows: Rows read.
        certified: Those of them with a certificate; the others are held to their answers only.
        faulty: Rows with at least one fault.
        faults: How many faults, those of the set included.
        groups: Rows by ``axis/split``.
        versions: Generator versions seen.
    """

    rows: int
    certified: int
    faulty: int
    faults: int
    groups: dict[str, int]
    versions: tuple[str, ...]


@dataclass(slots=True)
class Verifier:
    """Takes rows one by one; memory grows by some hundred bytes a row, whatever the rows hold."""

    _rows: int = 0
    _certified: int = 0
    _faulty: int = 0
    _faults: int = 0
    _groups: Counter[str] = field(default_factory=Counter)
    _versions: dict[str, None] = field(default_factory=dict)
    _ids: set[int] = field(default_factory=set)
    _texts: set[int] = field(default_factory=set)
    _templates: dict[Split, set[int]] = field(default_factory=lambda: {split: set() for split in Split})
    _names: dict[Split, set[str]] = field(default_factory=lambda: {split: set() for split in Split})
    _finals: dict[str, Counter[int]] = field(default_factory=dict)

    def take(self, row: Row) -> list[Fault]:
        """What is wrong with the row, in itself and beside the rows before it."""
        checked = check_row(row)
        reasons = [*checked.faults, *self._repeated(row), *self._crossings(checked)]
        self._count(checked, len(reasons))
        return [Fault(id=row.id, place=row.place, reason=reason) for reason in reasons]

    def finish(self, files: Iterable[str] = ()) -> list[Fault]:
        """What is wrong with the set as a whole, `files` (what is wrong with its files) included."""
        reasons = [*files, *self._mixed_versions(), *self._uneven_answers()]
        if not self._rows:
            reasons.append("there is no row to verify")
        self._faults += len(reasons)
        return [Fault(id="", place="", reason=reason) for reason in reasons]

    @property
    def result(self) -> Verification:
        """The counts so far."""
        return Verification(
            rows=self._rows,
            certified=self._certified,
            faulty=self._faulty,
            faults=self._faults,
            groups=dict(sorted(self._groups.items())),
            versions=tuple(self._versions),
        )

    def _count(self, checked: CheckedRow, faults: int) -> None:
        self._rows += 1
        self._faulty += bool(faults)
        self._faults += faults
        problem = checked.problem
        if problem is None:
            self._groups["without certificate"] += 1
            return
        self._certified += 1
        group = f"{problem.axis.value}/{problem.split.value}"
        self._groups[group] += 1
        self._versions[problem.generator_version] = None
        family = problem.id.rpartition("-")[0]
        self._finals.setdefault(family, Counter())[problem.answers[-1]] += 1

    def _repeated(self, row: Row) -> Iterator[str]:
        if row.fault:
            return
        if not _added(self._ids, row.id):
            yield "the id stands in the set twice"
        if not _added(self._texts, row.question):
            yield "the exact text stands in the set twice"

    def _crossings(self, checked: CheckedRow) -> Iterator[str]:
        """Templates and names that the row shares with the other split."""
        problem, analysis = checked.problem, checked.analysis
        if problem is None or analysis is None:
            return
        other = Split.TEST if problem.split is Split.TRAIN else Split.TRAIN
        names = {name for pair in analysis.system.names.values() for name in (pair.owner, pair.item)} - CATEGORY_WORDS
        self._names[problem.split] |= names
        if shared := sorted(names & self._names[other]):
            yield f"names that {other.value} uses too: {', '.join(shared[:4])}"
        asked = [question.name for question in analysis.passage.questions if question.subject is Subject.QUANTITY]
        measured = analysis.measured
        is_small = measured.parallel * ((measured.depth or 0) - 1) < _LINKS_OF_A_LARGE_SIZE
        try:
            template = template_digest(analysis.system, asked, with_constants=is_small)
        except UnsolvableTextError:
            return  # the circle is a fault of the row already
        self._templates[problem.split].add(template)
        if template in self._templates[other]:
            kept = "template with its constants" if is_small else "template"
            yield f"its {kept} occurs in {other.value} too"

    def _mixed_versions(self) -> Iterator[str]:
        if len(self._versions) > 1:
            yield f"rows of several generator versions: {', '.join(self._versions)}"

    def _uneven_answers(self) -> Iterator[str]:
        """Groups of equal parameters whose final answers are not uniform over 0 to 22 (chi-square, 1 %)."""
        for label, finals in self._finals.items():
            total = sum(finals[answer] for answer in range(MODULUS))
            if total < _LEAST_ANSWERS:
                continue
            expected = total / MODULUS
            chi_square = sum((finals[answer] - expected) ** 2 / expected for answer in range(MODULUS))
            if chi_square > _CHI_SQUARE_99:
                yield f"final answers of {label} are not uniform: chi-square {chi_square:.1f} over {total} rows"


def verify(
    path: Path, *, on_fault: Callable[[Fault], None] | None = None, on_row: Callable[[int], None] | None = None
) -> Verification:
    """What a pass over every row below a path finds.

    Args:
        path: A JSONL or Parquet file, or a folder of them.
        on_fault: Called with every fault as it is found; they are not kept.
        on_row: Called with the number of rows read so far, after each.

    Raises:
        FileFormatError: The path holds no rows, or a file cannot be read at all.
    """
    verifier = Verifier()
    for number, row in enumerate(read_rows(path), start=1):
        _tell(verifier.take(row), on_fault)
        if on_row:
            on_row(number)
    _tell(verifier.finish(file_faults(path)), on_fault)
    return verifier.result


def _tell(faults: list[Fault], on_fault: Callable[[Fault], None] | None) -> None:
    for fault in faults:
        if on_fault:
            on_fault(fault)


def _added(seen: set[int], text: str) -> bool:
    """Whether the text was not there yet; keeps 64 bits of it."""
    digest = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
    is_new = digest not in seen
    seen.add(digest)
    return is_new
