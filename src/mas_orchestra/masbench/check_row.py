"""Whether one row is what its certificate says, judged by its text alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from pydantic import ValidationError

from mas_orchestra.masbench.analyze import Analysis, analyze_text
from mas_orchestra.masbench.check_columns import column_faults
from mas_orchestra.masbench.check_graph import graph_faults
from mas_orchestra.masbench.layers import CATEGORY_WORDS
from mas_orchestra.masbench.measure import components
from mas_orchestra.masbench.problem import Problem, Style
from mas_orchestra.masbench.read_rows import Row
from mas_orchestra.masbench.sentences import UnreadableTextError
from mas_orchestra.masbench.solve_text import NEEDLE_OWNER
from mas_orchestra.masbench.system import MODULUS, System

__all__ = ["CheckedRow", "check_row"]

_PARAMETER_OF_AXIS = {"depth": "d", "breadth": "b", "horizon": "h", "parallel": "p", "robustness": "r"}
_MEASURED = (
    "depth",
    "breadth",
    "horizon",
    "parallel",
    "needed",
    "operations",
    "equalities",
    "text_depth",
    "text_breadth",
)
_MARK = re.compile(r"[.,:?()']")
_STATED_MODULUS = re.compile(r"\bmodulo (\d{1,6})")
_STATED_RANGE = re.compile(r"from (\d{1,6}) to (\d{1,6})")
_EXAMPLE = re.compile(r"(\d{1,6}) (plus|minus) (\d{1,6}) is (\d{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRow:
    """A row, what it holds and what is wrong with it.

    Attributes:
        problem: The certificate; ``None`` for a foreign row and for one whose certificate cannot be read.
        analysis: ``None`` where the text cannot be read.
        faults: One sentence each; empty for a row that is proven.
    """

    row: Row
    problem: Problem | None
    analysis: Analysis | None
    faults: tuple[str, ...]


def check_row(row: Row) -> CheckedRow:
    """The row with every fault that its own text and certificate show."""
    if row.fault:
        return CheckedRow(row=row, problem=None, analysis=None, faults=(row.fault,))
    try:
        analysis = analyze_text(row.question)
    except UnreadableTextError as error:
        return CheckedRow(row=row, problem=None, analysis=None, faults=(f"the text cannot be read: {error}",))
    if row.certificate is None:
        return CheckedRow(row=row, problem=None, analysis=analysis, faults=tuple(_foreign_faults(row, analysis)))
    if missing := sorted(Problem.model_fields.keys() - row.certificate.keys()):
        fault = f"the certificate lacks {', '.join(missing)}"
        return CheckedRow(row=row, problem=None, analysis=analysis, faults=(fault,))
    try:
        problem = Problem.model_validate(row.certificate)
    except ValidationError as error:
        faults = tuple(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:8])
        return CheckedRow(row=row, problem=None, analysis=analysis, faults=faults)
    faults = (*_column_faults(row, problem), *_faults(problem, analysis))
    return CheckedRow(row=row, problem=problem, analysis=analysis, faults=faults)


def _foreign_faults(row: Row, analysis: Analysis) -> Iterator[str]:
    """A row without a certificate is held to its answers, undefined quantities being 0."""
    if not row.answers:
        yield "the row gives no answer to compare with"
    elif analysis.solution is None:
        yield f"the text does not determine its answers: {analysis.fault}"
    else:
        yield from _compared("answers", tuple(map(str, analysis.solution.answers)), row.answers)


def _column_faults(row: Row, problem: Problem) -> Iterator[str]:
    """The columns around a certificate, which is what a trainer reads, against the certificate."""
    if row.question != problem.question:
        yield "question: the prompt and the certificate differ"
    yield from _compared("answers in the columns", tuple(map(str, problem.answers)), row.answers)
    if row.columns is not None:
        yield from column_faults(row.columns, problem)


def _faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    yield from _answer_faults(problem, analysis)
    yield from _text_faults(analysis)
    yield from _measure_faults(problem, analysis)
    yield from _parameter_faults(problem)
    yield from graph_faults(problem.graph, analysis)
    yield from _influence_faults(problem, analysis)
    yield from _poison_faults(problem, analysis)
    yield from _name_faults(problem)
    yield from _wording_faults(problem, analysis)


def _compared(what: str, text_gives: object, row_says: object) -> Iterator[str]:
    if text_gives != row_says:
        yield f"{what}: the row says {_shown(row_says)}, the text gives {_shown(text_gives)}"


def _shown(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 300 else text[:297] + "..."


def _answer_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    yield from _compared("asked", tuple((asked.owner, asked.item) for asked in analysis.asked), problem.asked)
    if analysis.solution is None:
        yield f"the text does not determine its answers: {analysis.fault}"
        return
    yield from _compared("answers", analysis.solution.answers, problem.answers)
    yield from (f"the text leaves open: {assumption}" for assumption in analysis.solution.assumptions)


def _text_faults(analysis: Analysis) -> Iterator[str]:
    measured = analysis.measured
    if measured.undefined:
        yield f"mentioned and never defined: {_shown(measured.undefined)}"
    if analysis.system.ambiguous:
        yield f"stated twice with different words: {_shown(tuple(analysis.system.ambiguous))}"
    if measured.cycles:
        yield f"needs itself: {_shown(measured.cycles[0])}"
    stated = [statement.quantity for statement in analysis.passage.statements]
    if len(set(stated)) != len(stated) and not analysis.system.ambiguous:
        yield "a statement stands in the text twice"


def _measure_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    for name in _MEASURED:
        yield from _compared(f"measured.{name}", getattr(analysis.measured, name), getattr(problem.measured, name))
    yield from _compared("measured.robustness", analysis.robustness, problem.measured.robustness)
    yield from _compared("measured.statements", len(analysis.passage.statements), problem.measured.statements)
    yield from _compared("measured.characters", len(problem.question), problem.measured.characters)
    yield from _compared("measured.tokens", _estimated_tokens(problem.question), problem.measured.tokens)


def _estimated_tokens(text: str) -> int:
    return len(text.split()) + len(_MARK.findall(text))


def _parameter_faults(problem: Problem) -> Iterator[str]:
    """The parameters against the measured sizes, which `_measure_faults` holds to the text."""
    size, measured = problem.parameters, problem.measured
    yield from _compared("parameters.d", measured.depth, size.d)
    yield from _compared("parameters.b", measured.breadth, size.b)
    yield from _compared("parameters.n times p", measured.needed, size.n * size.p)
    yield from _compared("parameters.T", measured.statements, size.T)
    yield from _compared("parameters.h", measured.horizon, size.h)
    yield from _compared("parameters.p", measured.parallel, size.p)
    yield from _compared("parameters.r", measured.robustness, size.r)
    letter = _PARAMETER_OF_AXIS.get(problem.axis.value.removesuffix("-fixed-size"))
    yield from _compared("value", getattr(size, letter) if letter else None, problem.value)
    label = f"d{size.d}b{size.b}n{size.n}T{size.T}h{size.h}p{size.p}r{size.r}"
    start, _, index = problem.id.rpartition("-")
    if not (start.startswith(f"{problem.axis.value}-{label}-") and f"{start}-".endswith(f"-{problem.split.value}-")):
        yield f"id: {problem.id!r} does not begin with axis and {label} and end with split and index"
    elif not index.isdecimal():
        yield f"id: {problem.id!r} does not end with a number"


def _influence_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    """Needed quantities that cannot change the final answer of their component."""
    if analysis.solution is None:
        return
    system = analysis.system
    targets = [f"{owner}'s {item}" for owner, item in problem.asked if owner != NEEDLE_OWNER]
    needed = [target for target in targets if target in system.definitions]
    component = components(system, system.needed(needed))
    finals = {component[target]: target for target in needed}
    for final in finals.values():
        dead = [key for key, influence in _influence(system, final).items() if influence == 0]
        if dead:
            yield f"cannot change the final answer {final!r}: {_shown(tuple(dead))}"


def _influence(system: System, final: str) -> dict[str, int]:
    """By quantity, how the final answer changes modulo 23 when the quantity rises by a little: its derivative."""
    values = system.values([final])
    influence = dict.fromkeys(values, 0)
    influence[final] = 1
    for key in reversed(values):
        for coefficient, keys in system.definitions[key].products if key in system.definitions else ():
            for place, parent in enumerate(keys):
                others = coefficient
                for other in (*keys[:place], *keys[place + 1 :]):
                    others *= values[other]
                influence[parent] = (influence[parent] + influence[key] * others) % MODULUS
    return influence


def _poison_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    claims = analysis.passage.claims
    kinds = tuple(sorted({claim.kind.value for claim in claims}))
    if kinds and kinds != (problem.attack,):
        yield f"attack: the row says {problem.attack}, the text holds {_shown(kinds)}"
    poison, stored = analysis.poison, problem.poisoned
    if poison is None or stored is None:
        if (poison is None) != (stored is None):
            yield f"poisoned: the row {'has' if stored else 'lacks'} it, the text attacks {analysis.robustness} answers"
        return
    for name in ("targets", "values", "finals", "joint"):
        yield from _compared(f"poisoned.{name}", getattr(poison, name), getattr(stored, name))
    yield from _compared("poisoned.texts", tuple(sorted(poison.texts)), tuple(sorted(stored.texts)))
    if len(claims) != len(poison.targets):
        yield f"the text holds {len(claims)} unverified values for {len(poison.targets)} attacked answers"
    yield from _harmless_faults(problem, analysis)


def _harmless_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    """Attacks that would not change the final answer if they were believed."""
    poison, system = analysis.poison, analysis.system
    if poison is None or analysis.solution is None:
        return
    answers = analysis.solution.answers
    names = [f"{owner}'s {item}" for owner, item in problem.asked]
    is_needle = [owner == NEEDLE_OWNER for owner, _ in problem.asked]
    quantities = [name for name, needle in zip(names, is_needle, strict=True) if not needle]
    component = components(system, system.needed(quantities))
    final = {component[name]: index for index, name in enumerate(names) if not is_needle[index]}
    for target, believed in zip(poison.targets, poison.finals, strict=True):
        index = target if is_needle[target] else final[component[names[target]]]
        if believed == answers[index] or poison.joint[index] == answers[index]:
            yield f"believing the attack on asked answer {target + 1} does not change answer {index + 1}"


def _name_faults(problem: Problem) -> Iterator[str]:
    names = sorted({name for pair in problem.graph.quantities for name in pair} - _totals(problem))
    if quoted := [name for name in names if "'" in name or "’" in name]:
        yield f"names with apostrophes: {_shown(tuple(quoted))}"
    if categories := [name for name in names if name in CATEGORY_WORDS]:
        yield f"names that are category words: {_shown(tuple(categories))}"
    inside = [(short, long) for short, long in permutations(names, 2) if short in long]
    yield from (f"the name {short!r} is part of the name {long!r}" for short, long in inside[:3])


def _totals(problem: Problem) -> set[str]:
    """Category words that stand as items of totals."""
    pairs = zip(problem.graph.quantities, problem.graph.operators, strict=True)
    return {item for (_, item), operator in pairs if operator.form == "total"}


def _wording_faults(problem: Problem, analysis: Analysis) -> Iterator[str]:
    """The rules around the problem: modulus, range and examples; the paper's style states no modulus."""
    prose = " ".join(sentence.text for sentence in analysis.passage.prose)
    moduli = {int(found) for found in _STATED_MODULUS.findall(prose)}
    if moduli != ({MODULUS} if problem.style is Style.EXACT else set()):
        yield f"style {problem.style.value}: the text states the moduli {_shown(tuple(moduli)) or 'none'}"
    ranges = {(int(low), int(high)) for low, high in _STATED_RANGE.findall(prose)}
    if ranges - {(0, MODULUS - 1)}:
        yield f"the text states the range {_shown(tuple(ranges))}"
    for left, word, right, result in _EXAMPLE.findall(prose):
        sign = 1 if word == "plus" else -1
        if (int(left) + sign * int(right)) % MODULUS != int(result):
            yield f"the text states {left} {word} {right} is {result}"
