"""Working out what is asked, as a model with a profile does: step by step, with its errors and its limits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from mas_orchestra.masbench.system import MODULUS
from mas_orchestra.simulate.handed import Assignment
from mas_orchestra.simulate.luck import luck
from mas_orchestra.simulate.profile import Profile
from mas_orchestra.simulate.text import Fate, Kind, Line, Route, Text

__all__ = ["Circumstances", "Worked", "hazard", "scale", "work_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """Who works, and how: the model's profile and seed, the prompt's length, and whether it is told to be brief."""

    profile: Profile
    seed: int
    prompt_tokens: int
    is_brief: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """What came of it.

    Attributes:
        values: Answer by target.
        steps: The lines that were written down.
        is_cut: There was no room for all of them, so no answer was reached.
    """

    values: Mapping[str, int]
    steps: tuple[str, ...]
    is_cut: bool = False


def hazard(line: Line, profile: Profile) -> float:
    """Hazard of one line, before what `scale` multiplies it with.

    ``lookup * level ** chaining + operation * operations ** combining``
    """
    looked_up = profile.lookup * math.pow(line.level, profile.chaining)
    return looked_up + (profile.operation * math.pow(line.operations, profile.combining) if line.operations else 0.0)


def scale(kind: Kind, answers: int, prompt_tokens: int, profile: Profile) -> float:
    """What multiplies the hazard of every line of a reply that gives so many answers to such a prompt."""
    context = math.pow(prompt_tokens / profile.reference_tokens, profile.context)
    factor = {Kind.SINGLE: 1.0, Kind.LINKED: profile.linked, Kind.INDEPENDENT: profile.independent}[kind]
    return context * factor * (1 + profile.crowding * (answers - 1))


def work_out(text: Text, asked: Assignment, circumstances: Circumstances, rng: Random) -> Worked:
    """The targets' values, right or wrong.

    Raises:
        UnsolvableTextError: A quantity needs itself or is stated twice.
    """
    route = text.route(asked.targets, tuple(name for name, _ in asked.handed))
    return _Reply(text, asked, route, circumstances, rng).worked()


class _Reply:
    """One reply in the making."""

    def __init__(self, text: Text, asked: Assignment, route: Route, by: Circumstances, rng: Random) -> None:
        self._asked, self._route, self._by, self._rng = asked, route, by, rng
        self._profile = by.profile
        self._luck = luck(text, by.profile, by.seed)
        self._due = sum(name not in route.handed for name in asked.targets)
        unwritten = self._profile.unwritten if by.is_brief else 1.0
        self._scale = scale(text.kind, max(1, self._due), by.prompt_tokens, by.profile)
        self._scale *= unwritten * self._luck.difficulty

    def worked(self) -> Worked:
        profile, route = self._profile, self._route
        room = profile.operation_budget * math.exp(profile.budget_spread * self._rng.gauss(0.0, 1.0))
        handed = dict(self._asked.handed)
        values = {name: self._copied(handed[name]) for name in route.handed}
        steps = self._follow(values, self._believed())
        is_cut = not self._by.is_brief and route.work > room
        if is_cut:
            steps = steps[: max(1, int(len(steps) * room / route.work))]
        return Worked(
            values={name: values[name] for name in self._asked.targets},
            steps=() if self._by.is_brief else tuple(steps),
            is_cut=is_cut,
        )

    def _copied(self, value: int) -> int:
        slips = self._rng.random() < self._profile.copy_error
        return value + self._rng.randrange(1, MODULUS) if slips else value

    def _believed(self) -> dict[str, int]:
        """False values that this reply takes for true."""
        chance = 1 - (1 - self._profile.belief) ** max(1, self._due)
        fates = self._luck.fates
        return {claim.name: claim.value for claim in self._route.claims if self._happens(chance, fates[claim.text])}

    def _follow(self, values: dict[str, int], believed: Mapping[str, int]) -> list[str]:
        """Work every line out, into `values`; the lines as written."""
        profile, fates, factor = self._profile, self._luck.fates, self._scale
        misreads = {name: fates[name].misread for name in self._asked.targets} if self._luck.is_misread else {}
        steps = []
        for line in self._route.lines:
            if line.name in believed:
                values[line.name] = believed[line.name]
                steps.append(f"{line.name} = {believed[line.name]}, as noted")
                continue
            value = line.equation.value(values)
            offset = misreads.get(line.name)
            if offset is None:
                offset = self._happens(1 - math.exp(-hazard(line, profile) * factor), fates[line.name])
            if offset:
                value = value + offset if line.is_needle else (value + offset) % MODULUS
            steps.append(line.sentence % (*(values[name] for name in line.inputs), value))
            values[line.name] = value
        return steps

    def _happens(self, chance: float, fate: Fate) -> int:
        """The offset of an error of this probability: the one that is fated, or one of this sample; else 0."""
        fated = self._profile.systematic * chance
        if fate.proneness < fated:
            return fate.offset
        if self._rng.random() < (chance - fated) / (1 - fated or 1.0):
            return self._rng.randrange(1, MODULUS)
        return 0
