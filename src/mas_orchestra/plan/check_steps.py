"""Checks of single steps: sub-agent, id, arguments."""

from mas_orchestra.plan.arguments import is_list_argument, problem_with, split_commas
from mas_orchestra.plan.check_state import CheckState
from mas_orchestra.plan.draft import DraftStep
from mas_orchestra.plan.names import is_legal_id
from mas_orchestra.plan.references import references
from mas_orchestra.plan.report import FaultCode

__all__ = ["check_arguments", "check_steps"]


def check_steps(state: CheckState) -> None:
    """Sub-agents, ids and arguments of all steps; fills `numbers`, `references` and `max_calls`."""
    steps = state.draft.steps
    for step in steps:
        _check_agent(state, step)
    state.references = [references(step.input) for step in steps]
    nameless = [number for number, step in enumerate(steps) if not _check_id(state, step, number)]
    if nameless:
        _name(state, nameless)
    for step in steps:
        check_arguments(state, step)


def check_arguments(state: CheckState, step: DraftStep) -> None:
    """A step's own arguments, by its sub-agent's card."""
    if step.agent not in state.rules.catalog:
        return
    card = state.rules.catalog[step.agent]
    for name, value in step.arguments.items():
        if isinstance(value, str) and is_list_argument(card, name) and not value.lstrip().startswith("["):
            step.arguments = {**step.arguments, name: split_commas(value)}
            message = f"{name} is a comma list in a string; read as a list. A JSON list of strings is clearer."
            state.faults.warning(FaultCode.REPAIRED, message, at=step.at, step=step.id or None)
    arguments, problem = problem_with(card, step.arguments)
    if arguments is None:
        state.faults.error(FaultCode.BAD_ARGUMENT, problem, at=step.at, step=step.id or None)
    else:
        state.max_calls += card.max_calls(arguments)


def _check_agent(state: CheckState, step: DraftStep) -> None:
    catalog, faults, name = state.rules.catalog, state.faults, step.id or None
    if step.agent in catalog:
        return
    known = ", ".join(catalog.names) or "none"
    if not step.agent:
        message = f"a step without a sub-agent's name; known sub-agents: {known}."
        faults.error(FaultCode.MISSING_FIELD, message, at=step.at, step=name)
        return
    meant = catalog.resolve(step.agent)
    close = meant or state.nearest(step.agent, catalog.names)
    hint = f" Did you mean {close!r}?" if close else ""
    message = f"no sub-agent is named {step.agent[:80]!r}.{hint} Known sub-agents: {known}."
    if meant is None:
        faults.error(FaultCode.UNKNOWN_AGENT, message, at=step.agent_at, step=name)
    elif faults.repair(FaultCode.UNKNOWN_AGENT, message, f"Read as {meant!r}.", at=step.agent_at, step=name):
        step.agent = meant


def _check_id(state: CheckState, step: DraftStep, number: int) -> bool:
    """Whether the step has an id, legal or not."""
    if not step.id:
        return False
    if not is_legal_id(step.id):
        message = f"id {step.id[:80]!r} holds a line break, $, {{ or }}; an id is any other text."
        state.faults.error(FaultCode.MISSING_FIELD, message, at=step.at, step=step.id)
    first = state.numbers.setdefault(step.id, number)
    if first != number:
        places = [state.faults.place(state.draft.steps[place].at) for place in (first, number)]
        message = (
            f"id {step.id[:80]!r} names step {first + 1}{places[0]} and step {number + 1}{places[1]}; "
            "give every step an id of its own."
        )
        state.faults.error(FaultCode.DUPLICATE_ID, message, at=step.at, step=step.id)
    return True


def _name(state: CheckState, nameless: list[int]) -> None:
    """Give ids to steps that have none, unless something in the plan may mean them."""
    named = {end for edge in state.draft.edges for end in (edge.source, edge.target)}
    named.update(*state.references)
    may_be_meant = not named <= state.numbers.keys()
    message = "a step without an id; give it one that no other step has."
    for number in nameless:
        step = state.draft.steps[number]
        name = state.free_id(f"agent_{number + 1}")
        if may_be_meant:
            message_meant = f"{message} (An edge or a reference names a step that is not declared.)"
            state.faults.error(FaultCode.MISSING_FIELD, message_meant, at=step.at)
        elif state.faults.repair(FaultCode.MISSING_FIELD, message, f"Named {name!r}.", at=step.at, step=name):
            step.id = name
            state.numbers[name] = number
