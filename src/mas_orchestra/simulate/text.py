"""A MASBENCH text as a simulated model has it before it: what is stated, asked and claimed, read once a text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from mas_orchestra.masbench.claims import Claim
from mas_orchestra.masbench.expression import Combination, Prefix
from mas_orchestra.masbench.questions import Question, Subject
from mas_orchestra.masbench.read_text import Passage, read_text
from mas_orchestra.masbench.system import MODULUS, Definition, System, UnsolvableTextError, build_systems

__all__ = ["Fate", "Kind", "Line", "Luck", "Route", "Text", "read"]


class Kind(StrEnum):
    """How many questions a text asks, and whether they need common quantities."""

    SINGLE = "single"
    LINKED = "linked"
    INDEPENDENT = "independent"


_MOST_ROUTES = 64
_UNDEFINED = Definition()


@dataclass(frozen=True, slots=True)
class Equation:
    """A definition as numbers alone: the offset plus every coefficient times the product of its quantities."""

    offset: int
    products: tuple[tuple[int, tuple[str, ...]], ...]

    def value(self, values: Mapping[str, int]) -> int:
        """Its value, a needle's as it stands."""
        if not self.products:
            return self.offset
        total = self.offset
        for coefficient, keys in self.products:
            product = coefficient
            for key in keys:
                product *= values[key]
            total += product
        return total % MODULUS


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One quantity that a reply works out.

    Attributes:
        sentence: How a reply writes it down, with a ``%d`` for each number of `inputs` and one for the result.
        level: Its place on the longest chain of what this reply works out, from 1.
        operations: Additions, subtractions and multiplications that it takes.
    """

    name: str
    equation: Equation
    sentence: str
    inputs: tuple[str, ...]
    level: int
    operations: int
    is_needle: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What has to be worked out for some targets, every quantity after those that it is computed from."""

    lines: tuple[Line, ...]
    handed: tuple[str, ...]
    """Names whose handed values are used."""
    claims: tuple[Claim, ...]
    """Claims about what is worked out or looked up."""
    work: int
    """Operations of the whole reply, a look-up counted as one."""


@dataclass(frozen=True, slots=True)
class Fate:
    """How prone the model is to err at one place, and which way: the error is `offset` modulo 23.

    `misread` is what it is off by in a text that it misunderstands: 0 where it is right by chance all the same.
    """

    proneness: float
    offset: int
    misread: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """One model and one text.

    Attributes:
        difficulty: Factor of all hazards, 1 on average over texts.
        is_misread: The model misunderstands this text, whatever it is asked about it.
        fates: By quantity, needle, and claim (its sentence).
    """

    difficulty: float
    is_misread: bool
    fates: Mapping[str, Fate]


@dataclass(frozen=True, kw_only=True, eq=False)
class Text:
    """A text that was read; `asked` are quantities as "A's B" and needles by name, in the order of the questions."""

    text: str
    system: System
    asked: tuple[Question, ...]
    needles: Mapping[str, int]
    claims: tuple[Claim, ...]
    kind: Kind
    phrases: Mapping[str, str]
    """Every wording of a mention ("B that A has") and the name that it stands for."""
    phrases_by_letter: Mapping[str, tuple[str, ...]]
    """The same wordings by their first letter, longest first."""
    by_number: Mapping[int, str]
    """What the problem of each number asks for."""
    luck: dict[tuple[int, float, float], Luck] = field(default_factory=dict)
    _routes: dict[tuple[tuple[str, ...], frozenset[str]], Route] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """What is asked, in order."""
        return tuple(question.name for question in self.asked)

    def route(self, targets: tuple[str, ...], handed: Iterable[str]) -> Route:
        """What a reply that gives the targets works out, given these values.

        Raises:
            UnsolvableTextError: A quantity needs itself.
        """
        key = (targets, frozenset(handed))
        found = self._routes.get(key)
        if found is None:
            if len(self._routes) >= _MOST_ROUTES:
                self._routes.clear()
            found = self._routes[key] = self._find_route(targets, key[1])
        return found

    def _find_route(self, targets: tuple[str, ...], handed: frozenset[str]) -> Route:
        used = frozenset(name for name in handed if name in self.system.definitions or name in targets)
        cut = System(
            definitions={name: line for name, line in self.system.definitions.items() if name not in used},
            ambiguous=self.system.ambiguous,
            names=self.system.names,
        )
        levels: dict[str, int] = dict.fromkeys(used, 0)
        lines = []
        for name in cut.needed([target for target in targets if target not in self.needles]):
            if name in used:
                continue
            if name in self.system.ambiguous:
                raise UnsolvableTextError(f"{name!r} is stated twice with different words")
            definition = self.system.definitions.get(name, _UNDEFINED)
            levels[name] = 1 + max((levels[parent] for parent in definition.parents), default=0)
            lines.append(_line(name, definition, level=levels[name]))
        looked_up = [name for name in targets if name in self.needles and name not in used]
        lines += [_needle_line(name, self.needles[name]) for name in looked_up]
        own = {line.name for line in lines}
        return Route(
            lines=tuple(lines),
            handed=tuple(sorted(used)),
            claims=tuple(claim for claim in self.claims if claim.name in own),
            work=sum(max(1, line.operations) for line in lines),
        )

    def true_values(self, targets: tuple[str, ...]) -> dict[str, int]:
        """The right values of the targets."""
        values = self.system.values([target for target in targets if target not in self.needles])
        return {target: self.needles.get(target, values.get(target, 0)) for target in targets}


@lru_cache(maxsize=1024)
def read(text: str) -> Text:
    """The text, read.

    Raises:
        UnreadableTextError: It is not of the MASBENCH family.
        UnsolvableTextError: It does not determine an answer.
    """
    passage = read_text(text)
    system = build_systems(passage.statements, passage.questions)[0]
    needles = {needle.name: needle.value for needle in passage.needles}
    phrases = _phrases(system, needles)
    return Text(
        text=text,
        system=system,
        asked=passage.questions,
        needles=needles,
        claims=passage.claims,
        kind=_kind(passage, system),
        phrases=phrases,
        phrases_by_letter=_by_letter(phrases),
        by_number={question.problem or place: question.name for place, question in enumerate(passage.questions, 1)},
    )


def _kind(passage: Passage, system: System) -> Kind:
    asked = [question.name for question in passage.questions if question.subject is Subject.QUANTITY]
    if len(passage.questions) == 1:
        return Kind.SINGLE
    seen: set[str] = set()
    for name in asked:
        needed = system.needed([name])
        if not seen.isdisjoint(needed):
            return Kind.LINKED
        seen.update(needed)
    return Kind.INDEPENDENT


def _phrases(system: System, needles: Iterable[str]) -> Mapping[str, str]:
    phrases = {f"magic number for {needle}": needle for needle in needles}
    for key, name in system.names.items():
        phrases[key] = key
        phrases[f"{name.item} that {name.owner} has"] = key
        phrases[f"{name.item} does {name.owner} have"] = key
    return phrases


def _by_letter(phrases: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    letters: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        letters.setdefault(phrase[0], []).append(phrase)
    return {letter: tuple(found) for letter, found in letters.items()}


def _needle_line(name: str, value: int) -> Line:
    written = f"magic number for {name.replace('%', '%%')} = %d"
    equation = Equation(value, ())
    return Line(name=name, equation=equation, sentence=written, inputs=(), level=1, operations=0, is_needle=True)


def _line(name: str, definition: Definition, *, level: int) -> Line:
    inputs = tuple(key for _, keys in definition.products for key in keys)
    offset = definition.offset if definition.products else definition.offset % MODULUS
    return Line(
        name=name,
        equation=Equation(offset, definition.products),
        sentence=f"{name.replace('%', '%%')} = {_worked(definition)}%d",
        inputs=inputs,
        level=level,
        operations=_operations(definition),
        is_needle=False,
    )


def _worked(definition: Definition) -> str:
    """The right side with a place for each number; empty where the value is only looked up."""
    expression = definition.expression
    if expression is None:
        totals = " + ".join("*".join("%d" for _ in keys) for _, keys in definition.products)
        return f"{totals} = " if totals else ""
    if expression.combination is Combination.LITERAL and not expression.prefixes:
        return ""
    if expression.combination is Combination.LITERAL:
        body = str(expression.literal)
    else:
        body = (" - " if expression.combination is Combination.DIFFERENCE else " + ").join(
            "%d" for _ in expression.terms
        )
    if len(expression.terms) > 1 and expression.prefixes:
        body = f"({body})"
    for prefix, constant in reversed(expression.prefixes):
        body = f"{constant} {'+' if prefix is Prefix.MORE else '*'} {body}"
    return f"{body} = "


def _operations(definition: Definition) -> int:
    expression = definition.expression
    if expression is None:
        return max(0, sum(len(keys) for _, keys in definition.products) - 1)
    return len(expression.prefixes) + max(0, len(expression.terms) - 1)
