"""Checks of data flow: edges, references, and that the two agree."""

from mas_orchestra.plan.check_state import CheckState, append_output
from mas_orchestra.plan.draft import DraftEdge, DraftStep
from mas_orchestra.plan.faults import listed
from mas_orchestra.plan.graph import Graph
from mas_orchestra.plan.report import FaultCode

__all__ = ["check_edges", "check_references", "numbered_edges"]


def check_edges(state: CheckState) -> None:
    """Endpoints, self-loops and repeats; every edge stays once."""
    kept: dict[tuple[str, str], DraftEdge] = {}
    declared = listed(list(state.numbers))
    for edge in state.draft.edges:
        ends = (edge.source, edge.target)
        if ends in kept:
            message = f"edge {edge.source!r} -> {edge.target!r} stands here again; it counts once."
            state.faults.warning(FaultCode.DUPLICATE_EDGE, message, at=edge.at)
            continue
        kept[ends] = edge
        unknown = [end for end in dict.fromkeys(ends) if end not in state.numbers]
        for end in unknown:
            _undeclared(state, edge, end, declared)
        if edge.source == edge.target and not unknown:
            message = f"step {edge.source!r} reads itself; remove the edge."
            state.faults.error(FaultCode.SELF_LOOP, message, at=edge.at, step=edge.source)
    state.draft.edges = list(kept.values())


def check_references(state: CheckState) -> None:
    """Unknown references, and references without an edge or edges without a reference."""
    edges = {(edge.source, edge.target) for edge in state.draft.edges}
    missing: list[tuple[str, DraftStep]] = []
    for step, names in zip(state.draft.steps, state.references, strict=True):
        for name in names:
            if name not in state.numbers:
                _unknown_reference(state, name, step)
            elif (name, step.id) in edges:
                continue
            elif name == step.id:
                message = f"step {name!r} refers to its own answer; remove the reference."
                state.faults.error(FaultCode.SELF_LOOP, message, at=step.input_at, step=name)
            else:
                missing.append((name, step))
    if state.draft.edges_are_references:
        state.draft.edges += [_edge_of(name, step) for name, step in missing]
    else:
        _check_missing_edges(state, missing)
        _check_missing_references(state)


def numbered_edges(state: CheckState) -> list[tuple[int, int]]:
    """Edges between declared steps by their places, self-loops left out."""
    numbers = state.numbers
    return [
        (numbers[edge.source], numbers[edge.target])
        for edge in state.draft.edges
        if edge.source != edge.target and edge.source in numbers and edge.target in numbers
    ]


def _undeclared(state: CheckState, edge: DraftEdge, end: str, declared: str) -> None:
    close = state.nearest(end, state.numbers)
    hint = f" Did you mean {close!r}?" if close else ""
    message = (
        f"edge {edge.source[:80]!r} -> {edge.target[:80]!r} names {end[:80]!r}, which is no step's id.{hint} "
        f"Declared: {declared or 'none'}."
    )
    state.faults.error(FaultCode.UNDECLARED_ENDPOINT, message, at=edge.at)


def _unknown_reference(state: CheckState, name: str, step: DraftStep) -> None:
    close = state.nearest(name, state.numbers)
    hint = f" Did you mean ${{{close}}}?" if close else ""
    message = f"${{{name[:80]}}} refers to no step of this plan (letter case counts).{hint}"
    kept = "It stays in the input as it is written."
    at = state.faults.within(step.input_at, f"${{{name}")
    state.faults.repair(FaultCode.UNKNOWN_REFERENCE, message, kept, at=at, step=step.id or None)


def _edge_of(name: str, step: DraftStep) -> DraftEdge:
    return DraftEdge(source=name, target=step.id, at=step.input_at)


def _check_missing_edges(state: CheckState, missing: list[tuple[str, DraftStep]]) -> None:
    """References without an edge; the repair adds those edges that close no cycle."""
    if not missing:
        return
    closing = _closing_cycles(state, missing)
    for name, step in missing:
        message = f"the input of {step.id!r} refers to ${{{name}}}, but no edge says {name!r} -> {step.id!r}; add it."
        code, at = FaultCode.REFERENCE_WITHOUT_EDGE, state.faults.within(step.input_at, f"${{{name}")
        if (name, step.id) in closing:
            cyclic = f"{message} (With it the plan has a cycle.)"
            state.faults.error(code, cyclic, at=at, step=step.id or None)
        elif state.faults.repair(code, message, "Added.", at=at, step=step.id or None):
            state.draft.edges.append(_edge_of(name, step))


def _closing_cycles(state: CheckState, missing: list[tuple[str, DraftStep]]) -> set[tuple[str, str]]:
    """Those of the missing edges that lie on a cycle once all of them are added."""
    numbers = state.numbers
    wanted = [(numbers[name], numbers[step.id]) for name, step in missing if step.id in numbers]
    graph = Graph(len(state.draft.steps), {*numbered_edges(state), *wanted})
    knot_of = {node: number for number, knot in enumerate(graph.knots()) for node in knot}
    steps = state.draft.steps
    return {
        (steps[source].id, steps[target].id)
        for source, target in wanted
        if source in knot_of and knot_of[source] == knot_of.get(target)
    }


def _check_missing_references(state: CheckState) -> None:
    """Edges whose target never mentions the source; the repair appends the source's answer to the input."""
    steps = zip(state.draft.steps, state.references, strict=True)
    read = {(name, step.id) for step, names in steps for name in names}
    for edge in state.draft.edges:
        ends = (edge.source, edge.target)
        if ends in read or edge.source == edge.target or not all(end in state.numbers for end in ends):
            continue
        message = (
            f"edge {edge.source!r} -> {edge.target!r}, but the input of {edge.target!r} does not refer to "
            f"${{{edge.source}}}; use the reference or remove the edge."
        )
        mended = "The source's answer is appended to the input."
        if state.faults.repair(FaultCode.EDGE_WITHOUT_REFERENCE, message, mended, at=edge.at, step=edge.target):
            append_output(state.draft.steps[state.numbers[edge.target]], edge.source)
