"""What a MASBENCH text really is: its axes, sizes and faults, measured from the text alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from mas_orchestra.masbench.claims import Claim
from mas_orchestra.masbench.measure import Measurement, components, measure
from mas_orchestra.masbench.questions import Subject
from mas_orchestra.masbench.read_text import Passage, read_text
from mas_orchestra.masbench.solve_text import Asked, Solution, asked_of, solve_passage
from mas_orchestra.masbench.system import System, UnsolvableTextError, build_systems
from mas_orchestra.types import JsonValue

__all__ = ["Analysis", "Poison", "analysis_document", "analyze_text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison:
    """What a reader who believes the text's claims would answer.

    Attributes:
        targets: Index into `asked` of every asked answer that a claim contradicts, in the order asked.
        values: The false value given for each, as written.
        finals: Last asked answer of the target's component if only that claim is believed; a needle's false value.
        joint: All asked answers if every claim is believed.
        texts: The sentences, word for word.
    """

    targets: tuple[int, ...]
    values: tuple[int, ...]
    finals: tuple[int, ...]
    joint: tuple[int, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Structure of a text.

    Attributes:
        solution: ``None`` where the text does not determine its answers; `fault` then says why.
        asked: What is asked for, in the order of the questions.
        poison: ``None`` where no claim contradicts an asked answer.
    """

    passage: Passage
    system: System
    solution: Solution | None
    fault: str | None
    asked: tuple[Asked, ...]
    measured: Measurement
    poison: Poison | None

    @property
    def problems(self) -> int:
        """Numbered problems of the layout, 0 for one passage."""
        return len({question.problem for question in self.passage.questions} - {0})

    @property
    def robustness(self) -> int:
        """Asked answers that a claim contradicts."""
        return len(self.poison.targets) if self.poison else 0


def analyze_text(text: str | Passage) -> Analysis:
    """The structure of the text; a text that does not determine its answers is analysed all the same.

    Raises:
        UnreadableTextError: The text is not of this family.
    """
    passage = read_text(text) if isinstance(text, str) else text
    systems = build_systems(passage.statements, passage.questions)
    targets = [question.name for question in passage.questions if question.subject is Subject.QUANTITY]
    solution, fault = None, None
    try:
        solution = solve_passage(passage, systems)
    except UnsolvableTextError as error:
        fault = str(error)
    return Analysis(
        passage=passage,
        system=systems[0],
        solution=solution,
        fault=fault,
        asked=tuple(asked_of(systems[0], question) for question in passage.questions),
        measured=measure(systems[0], targets),
        poison=_poison(passage, systems[0], solution.answers) if solution else None,
    )


def _poison(passage: Passage, system: System, answers: tuple[int, ...]) -> Poison | None:
    claims = {(claim.is_needle, claim.name): claim for claim in reversed(passage.claims)}
    attacked: list[tuple[int, Claim]] = []
    for index, (question, answer) in enumerate(zip(passage.questions, answers, strict=True)):
        claim = claims.get((question.subject is Subject.NEEDLE, question.name))
        if claim and claim.value != answer:
            attacked.append((index, claim))
    if not attacked:
        return None
    return Poison(
        targets=tuple(index for index, _ in attacked),
        values=tuple(claim.value for _, claim in attacked),
        finals=_finals(passage, system, [claim for _, claim in attacked]),
        joint=_joint(passage, system, answers, claims),
        texts=tuple(claim.text for _, claim in attacked),
    )


def _finals(passage: Passage, system: System, claims: Sequence[Claim]) -> tuple[int, ...]:
    """For every claim the last asked answer of its component if only this claim is believed."""
    targets = [question.name for question in passage.questions if question.subject is Subject.QUANTITY]
    component = components(system, system.needed(targets))
    final = {component[target]: target for target in targets}
    lasts = ["" if claim.is_needle else final[component[claim.name]] for claim in claims]
    return tuple(
        system.values([last], {claim.name: claim.value})[last] if last else claim.value
        for claim, last in zip(claims, lasts, strict=True)
    )


def _joint(
    passage: Passage, system: System, answers: tuple[int, ...], claims: Mapping[tuple[bool, str], Claim]
) -> tuple[int, ...]:
    """Every asked answer if all claims are believed."""
    believed = {name: claim.value for (is_needle, name), claim in claims.items() if not is_needle}
    targets = [question.name for question in passage.questions if question.subject is Subject.QUANTITY]
    values = system.values(targets, believed)
    needles = {name: claim.value for (is_needle, name), claim in claims.items() if is_needle}
    return tuple(
        values[question.name] if question.subject is Subject.QUANTITY else needles.get(question.name, answer)
        for question, answer in zip(passage.questions, answers, strict=True)
    )


def analysis_document(analysis: Analysis) -> dict[str, JsonValue]:
    """The analysis as a JSON object: answers, axes, sizes, faults, claims, and the sentences that were not used."""
    solution, measured, poison = analysis.solution, analysis.measured, analysis.poison
    unread = Counter(sentence.text for sentence in analysis.passage.prose)
    return {
        "answers": list(solution.answers) if solution else None,
        "asked": [[asked.owner, asked.item] for asked in analysis.asked],
        "fault": analysis.fault,
        "depth": measured.depth,
        "breadth": measured.breadth,
        "horizon": measured.horizon,
        "parallel": measured.parallel,
        "robustness": analysis.robustness,
        "problems": analysis.problems,
        "needed": measured.needed,
        "statements": len(analysis.passage.statements),
        "stated": len({statement.quantity for statement in analysis.passage.statements}),
        "operations": measured.operations,
        "equalities": measured.equalities,
        "text_depth": measured.text_depth,
        "text_breadth": measured.text_breadth,
        "undefined": list(measured.undefined),
        "taken_as_zero": list(solution.taken_as_zero) if solution else [],
        "ambiguous": list(analysis.system.ambiguous),
        "cycles": [list(cycle) for cycle in measured.cycles],
        "assumptions": list(solution.assumptions) if solution else [],
        "claims": [
            {
                "line": claim.line,
                "kind": claim.kind.value,
                "about": claim.name,
                "value": claim.value,
                "text": claim.text,
            }
            for claim in analysis.passage.claims
        ],
        "poison": {name: list(values) for name, values in asdict(poison).items()} if poison else None,
        "unread": [{"times": times, "text": text} for text, times in unread.items()],
    }
