"""A tiny evaluator that knows nothing but the sentences of a text: brute force, for tests of the generator alone."""

import re
from dataclasses import dataclass

_STATEMENT = re.compile(r"The number of each ([^']+)'s ([^']+?) equals ([^.]+)\.")
_REFERENCE = re.compile(r"each ([^']+)'s ((?:(?! and each |, each )[^'.,])+)")
_QUESTION = re.compile(r"How many ([^?]+?) does ([^?]+?) have\?")

Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    operands: tuple[Name, ...]
    factor: int
    addend: int
    signs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    statements: dict[Name, Expression]
    asked: tuple[Name, ...]

    def operands(self, name: Name) -> tuple[Name, ...]:
        if name in self.statements:
            return self.statements[name].operands
        return tuple(stated for stated in self.statements if stated[0] == name[0])

    def needed(self) -> set[Name]:
        seen: set[Name] = set()
        todo = list(self.asked)
        while todo:
            if (name := todo.pop()) not in seen:
                seen.add(name)
                todo += self.operands(name)
        return seen

    def value(self, name: Name, believed: dict[Name, int] | None = None) -> int:
        if believed and name in believed:
            return believed[name]
        values = [self.value(operand, believed) for operand in self.operands(name)]
        if name not in self.statements:
            assert values, f"{name} is defined nowhere"
            return sum(values) % 23
        told = self.statements[name]
        total = sum(sign * value for sign, value in zip(told.signs, values, strict=True))
        return (told.factor * total + told.addend) % 23

    def depth(self, name: Name) -> int:
        return 1 + max((self.depth(operand) for operand in self.operands(name)), default=0)

    def breadth(self) -> int:
        return max(len(set(self.operands(name))) for name in self.needed())

    def components(self) -> int:
        groups: list[set[Name]] = []
        for name in self.needed():
            near = {name, *self.operands(name)}
            touching = [group for group in groups if group & near]
            groups = [group for group in groups if not group & near]
            groups.append(near.union(*touching))
        return len(groups)


def read(question: str) -> Reading:
    statements: dict[Name, Expression] = {}
    for owner, item, expression in _STATEMENT.findall(question):
        assert (owner, item) not in statements, f"{owner}'s {item} is defined twice"
        statements[owner, item] = _expression(expression)
    asked = tuple((owner, item) for item, owner in _QUESTION.findall(question))
    return Reading(statements=statements, asked=asked)


def _expression(text: str) -> Expression:
    if text.isdigit():
        return Expression(operands=(), factor=1, addend=int(text), signs=())
    operands = tuple(_REFERENCE.findall(text))
    more = re.match(r"(\d+) more than ", text)
    times = re.match(r"(\d+) times as much as ", text)
    signs = (1, -1) if "the difference of" in text else (1,) * len(operands)
    return Expression(
        operands=operands, factor=int(times[1]) if times else 1, addend=int(more[1]) if more else 0, signs=signs
    )
