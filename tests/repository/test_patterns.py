r"""Regular expressions read hostile text in linear time: no two unbounded repeats compete for the same characters.

``(a+)*`` takes exponential time on the wrong text, ``\s*(.*?)\s*`` cubic. Both show in the pattern itself, so it is the
pattern that is checked, not the clock. Possessive repeats and atomic groups do not go back and are free.
"""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]  # the parser of `re` has no public name
from typing import Any

import pytest

from repository.source_tree import Module, listed, modules, planted

EXCEPTIONS: dict[str, str] = tomllib.loads((Path(__file__).parent / "pattern_exceptions.toml").read_text("utf-8"))

FUNCTIONS = {"compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}
REPEATS = {_constants.MAX_REPEAT, _constants.MIN_REPEAT}
SINGLE = {_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN}
# One character of every kind that a class may tell apart.
SAMPLES = [chr(code) for code in range(1, 127)] + list("éßΩж中:…–«\u00a0\u2028")

Item = tuple[Any, Any]


def patterns(module: Module) -> Iterator[tuple[int, str]]:
    """Line and text of every pattern that stands in the source as a constant."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {f"re.{name}" for name in FUNCTIONS} and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value


def competing(pattern: str) -> list[str]:
    """What is wrong with a pattern."""
    scan = Scan(_parser.parse(pattern))
    return scan.faults


class Scan:
    """One walk along a pattern.

    It carries the *open* characters: those that an unbounded repeat before this place could also have taken, because
    nothing that must be there has come in between to end it. A repeat that matches an open character competes for it.
    The body of an unbounded repeat is walked twice, for its second round follows its first.
    """

    def __init__(self, parsed: Any) -> None:
        self.faults: list[str] = []
        self._state = parsed.state
        self._sequence(parsed, frozenset())

    def _sequence(self, items: Iterable[Item], opened: frozenset[str]) -> frozenset[str]:
        for item in items:
            opened = self._item(item, opened)
        return opened

    def _item(self, item: Item, opened: frozenset[str]) -> frozenset[str]:
        operator, argument = item
        if operator in REPEATS:
            return self._repeat(item, opened)
        if operator is _constants.SUBPATTERN:
            return self._sequence(argument[-1], opened)
        if operator is _constants.BRANCH:
            return frozenset().union(*(self._sequence(way, opened) for way in argument[1]))
        return opened & self._characters(item) if operator in SINGLE else opened

    def _repeat(self, item: Item, opened: frozenset[str]) -> frozenset[str]:
        least, most, body = item[1]
        after = self._sequence(body, opened)
        if most is _constants.MAXREPEAT:
            own = self._singles(body)
            if shared := sorted(own & opened):
                self.faults.append(f"competes for {shared[:3]}")
            after |= own
            self._sequence(body, after - own if self._is_single(body) else after)
        return after if least else after | opened

    def _singles(self, body: Iterable[Item]) -> frozenset[str]:
        """Characters that are a whole round of a repeat by themselves."""
        items = list(body)
        if len(items) != 1:
            return frozenset()
        operator, argument = items[0]
        if operator is _constants.SUBPATTERN:
            return self._singles(argument[-1])
        if operator is _constants.BRANCH:
            return frozenset().union(*(self._singles(way) for way in argument[1]))
        return self._characters(items[0]) if operator in SINGLE else frozenset()

    def _is_single(self, body: Iterable[Item]) -> bool:
        return [operator for operator, _ in body] in [[single] for single in SINGLE]

    def _characters(self, item: Item) -> frozenset[str]:
        matcher = _compiler.compile(_parser.SubPattern(self._state, [item]), self._state.flags)
        return frozenset(sample for sample in SAMPLES if matcher.match(sample))


def test_no_two_repeats_compete() -> None:
    found = {
        f"{module.path}: {pattern}": f"{module.path}:{line} {fault}: {pattern}"
        for module in modules("src")
        for line, pattern in patterns(module)
        for fault in competing(pattern)[:1]
    }
    stale = sorted(set(EXCEPTIONS) - set(found))

    assert not stale, listed(stale, "Remove from pattern_exceptions.toml:")
    assert set(found) <= set(EXCEPTIONS), listed([found[key] for key in found if key not in EXCEPTIONS], "Patterns:")


@pytest.mark.parametrize(
    "pattern",
    [r"<a>\s*(.*?)\s*</a>", r"(a+)*b", r"(?:\w+\s*)*:", r"(?:a|b+)+c", r"\d+\d*x", r"\s+\s+", r"[a-z]*(?:,)?[a-m]*;"],
)
def test_competing_repeats_are_seen(pattern: str) -> None:
    assert competing(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*\d+\s*",
        r"(?:\w+,)*\w+",
        r"[^<]*<[^>]*>",
        r"(a++)*b",
        r"\$\{([^{}]+)\}",
        r"a*b+c*",
        r"^\s*(\S+)\s+\d",
        r"a{1,3}a*",
    ],
)
def test_repeats_that_do_not_compete_are_not(pattern: str) -> None:
    assert not competing(pattern)


def test_patterns_are_found() -> None:
    assert list(patterns(planted("import re\nA = re.compile(r'a+')\nre.sub('b', '', x)\n"))) == [(2, "a+"), (3, "b")]
