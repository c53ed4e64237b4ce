"""Checks of the graph: cycles, the one sink, and that everything hangs together."""

from mas_orchestra.plan.arguments import problem_with
from mas_orchestra.plan.catalog import Catalog
from mas_orchestra.plan.check_flow import numbered_edges
from mas_orchestra.plan.check_state import CheckState, append_output
from mas_orchestra.plan.check_steps import check_arguments
from mas_orchestra.plan.draft import DraftEdge, DraftStep
from mas_orchestra.plan.faults import listed
from mas_orchestra.plan.graph import Graph
from mas_orchestra.plan.references import references
from mas_orchestra.plan.report import FaultCode
from mas_orchestra.types import DoM

__all__ = ["check_graph"]


def check_graph(state: CheckState) -> None:
    """Cycles, sinks and parts; fills `width`, `length` and `sink`, and joins several sinks where that is asked for."""
    graph = _graph(state)
    sinks = graph.sinks()
    if state.rules.dom is DoM.HIGH and len(sinks) > 1 and _join(state, sinks):
        graph = _graph(state)
        sinks = graph.sinks()
    _check_cycles(state, graph)
    if state.rules.dom is DoM.HIGH:
        _check_parts(state, graph)
    if len(sinks) == 1:
        state.sink = state.draft.steps[sinks[0]].id


def _graph(state: CheckState) -> Graph:
    return Graph(len(state.draft.steps), numbered_edges(state))


def _check_cycles(state: CheckState, graph: Graph) -> None:
    shape = graph.shape()
    if shape is not None:
        state.width, state.length = shape.width, shape.length
        return
    for knot in graph.knots():
        path = [state.draft.steps[node].id for node in graph.cycle_in(knot)]
        shown = [*path, path[0]] if len(path) <= 20 else [*path[:20], f"… {len(path) - 20} more …", path[0]]
        message = f"a cycle: {' -> '.join(shown)}; remove one of its edges."
        state.faults.error(FaultCode.CYCLE, message, at=state.draft.steps[knot[0]].at, step=path[0])


def _check_parts(state: CheckState, graph: Graph) -> None:
    parts = graph.components()
    if len(parts) <= 1:
        return
    ids = [[state.draft.steps[node].id for node in part] for part in parts]
    shown = "; ".join(listed(part, most=4) for part in ids[:6])
    more = f"; and {len(ids) - 6} more" if len(ids) > 6 else ""
    message = f"the plan falls into {len(ids)} parts without an edge between them: {shown}{more}. Connect them."
    state.faults.error(FaultCode.DISCONNECTED, message)


def _join(state: CheckState, sinks: list[int]) -> bool:
    """Whether a collector was added that reads all sinks; otherwise several sinks are an error."""
    ids = [state.draft.steps[node].id for node in sinks]
    message = (
        f"{len(ids)} steps that no other reads: {listed(ids)}. A plan has exactly one; add a step that reads them all."
    )
    collector = _collector(state.rules.catalog)
    name = state.free_id("collector")
    if not state.rules.auto_join or collector is None or state.faults.has_errors:
        state.faults.error(FaultCode.MULTIPLE_SINKS, message)
        return False
    mended = f"Step {name!r} ({collector}) joins them."
    if not state.faults.repair(FaultCode.MULTIPLE_SINKS, message, mended, step=name):
        return False
    step = DraftStep(id=name, agent=collector, description="Joins the results of all last steps.")
    for source in ids:
        append_output(step, source)
    state.numbers[name] = len(state.draft.steps)
    state.references.append(references(step.input))
    state.draft.steps.append(step)
    state.draft.edges += [DraftEdge(source=source, target=name) for source in ids]
    check_arguments(state, step)
    return True


def _collector(catalog: Catalog) -> str | None:
    """Chain of thought, the paper's cheapest sub-agent, or else the first one that needs no arguments."""
    free = [card.name for card in catalog if problem_with(card, {})[0] is not None]
    return "CoTAgent" if "CoTAgent" in free else next(iter(free), None)
