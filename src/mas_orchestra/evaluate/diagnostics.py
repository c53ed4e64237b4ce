"""Collapse diagnostics: what a system really does, whatever it is called.

Automatic multi-agent systems tend to collapse into self-consistency, a single agent or an instant agreement; these
counts make that visible (the diagnostics of the systematic comparison of automatic multi-agent systems that reports
them for DyLAN, AFlow, MaAS and MAS-Orchestra).
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from mas_orchestra.evaluate.entrants import Entrant
from mas_orchestra.evaluate.results import Attempt
from mas_orchestra.plan.schema import Plan, Step
from mas_orchestra.types import OutcomeStatus

__all__ = ["Diagnosis", "Unanimity", "diagnose", "is_degenerate", "is_whole_task_delegation"]

_UNPLANNED = frozenset({OutcomeStatus.ENDPOINT_ERROR, OutcomeStatus.CANCELLED})
"""Without a plan, these say nothing about the planner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanimity:
    """Agreement in the first round of debates.

    Attributes:
        share: Mean over attempts of the share of their debates that agreed at once; NaN without any.
        attempts: With at least one debate.
    """

    share: float
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The plans of one system.

    Attributes:
        read: Attempts whose plan was read or refused: the denominator of `invalid`.
        plans: Attempts with a valid plan, direct answers included: the denominator of all other counts.
        direct_answers: Plans without a step.
        whole_task: Plans that are one whole-task delegation.
        degenerate: Plans that ask the same prompt several times and join the answers.
        invalid: Attempts that ended as invalid plan.
        fault_codes: Of invalid attempts, how many had each fault; one attempt may have several.
        agents: Steps by sub-agent, over all plans.
        steps, widths, lengths: Plans by number of steps, width and length; a direct answer has 0.
    """

    entrant: Entrant
    read: int
    plans: int
    direct_answers: int
    whole_task: int
    degenerate: int
    invalid: int
    fault_codes: Mapping[str, int]
    agents: Mapping[str, int]
    steps: Mapping[int, int]
    widths: Mapping[int, int]
    lengths: Mapping[int, int]
    unanimity: Unanimity


def diagnose(entrant: Entrant) -> Diagnosis:
    """The diagnostics of one system, over all its attempts."""
    read = [one for one in entrant.all_attempts if one.plan is not None or one.status not in _UNPLANNED]
    planned = [(question, attempt, plan) for question, attempt, plan in _plans(entrant)]
    invalid = [one for one in read if one.status is OutcomeStatus.INVALID_PLAN]
    return Diagnosis(
        entrant=entrant,
        read=len(read),
        plans=len(planned),
        direct_answers=sum(not plan.steps for _, _, plan in planned),
        whole_task=sum(is_whole_task_delegation(plan, question) for question, _, plan in planned),
        degenerate=sum(is_degenerate(plan, question) for question, _, plan in planned),
        invalid=len(invalid),
        fault_codes=_most_first(Counter(code for one in invalid for code in dict.fromkeys(one.fault_codes))),
        agents=_most_first(Counter(step.agent for _, _, plan in planned for step in plan.steps)),
        steps=_ascending(Counter(len(plan.steps) for _, _, plan in planned)),
        widths=_ascending(Counter(one.width for _, one, _ in planned)),
        lengths=_ascending(Counter(one.length for _, one, _ in planned)),
        unanimity=_unanimity(read),
    )


def is_whole_task_delegation(plan: Plan, question: str) -> bool:
    """Whether the plan hands the whole question to one sub-agent: one step with the question or nothing as input.

    >>> is_whole_task_delegation(Plan(steps=(Step(id="a", agent="DebateAgent"),)), "6 × 7?")
    True
    """
    return len(plan.steps) == 1 and _prompt(plan.steps[0], question) == ""


def is_degenerate(plan: Plan, question: str) -> bool:
    """Whether the plan is self-consistency by another name: the same prompt several times, then one step that joins.

    Prompts are the same when sub-agent, arguments and input are, blanks and letter case aside. The joining step reads
    all of them, and there is no other step.
    """
    if len(plan.steps) < 3:
        return False
    targets = {edge.target for edge in plan.edges}
    sources = [step for step in plan.steps if step.id not in targets]
    joins = [step.id for step in plan.steps if step.id in targets]
    if len(joins) != 1 or len({_call(step, question) for step in sources}) != 1:
        return False
    return {edge.source for edge in plan.edges} == {step.id for step in sources}


def _prompt(step: Step, question: str) -> str:
    """A step's input, comparable; empty where it is the question itself."""
    text = " ".join(step.input.split()).casefold()
    return "" if text == " ".join(question.split()).casefold() else text


def _call(step: Step, question: str) -> tuple[str, str, str]:
    return step.agent, _prompt(step, question), json.dumps(step.arguments, sort_keys=True, default=str)


def _plans(entrant: Entrant) -> Iterator[tuple[str, Attempt, Plan]]:
    for key, attempts in entrant.attempts.items():
        for attempt in attempts:
            if attempt.plan is not None:
                yield entrant.tasks[key].question, attempt, attempt.plan


def _unanimity(attempts: Sequence[Attempt]) -> Unanimity:
    shares = [one.first_round_unanimous for one in attempts if one.first_round_unanimous is not None]
    return Unanimity(share=fmean(shares) if shares else math.nan, attempts=len(shares))


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _ascending(counts: Counter[int]) -> dict[int, int]:
    return dict(sorted(counts.items()))
