"""A problem's graph drawn as Mermaid and as plain text."""

from collections.abc import Iterator, Sequence

from mas_orchestra.masbench.problem import Form, Graph, Modifier, Operator, Problem

__all__ = ["formula", "mermaid", "outline"]

_WORDS = {Form.EQUAL: "it", Form.SUM: "sum", Form.DIFFERENCE: "difference", Form.TOTAL: "total"}


def mermaid(problem: Problem, *, distractors: bool = False) -> str:
    """A Mermaid flowchart from constants to final quantities; asked ones are double-framed, attacked ones marked.

    With `distractors` also what the answers do not need, with dashed arrows.
    """
    return "\n".join(["flowchart LR", *_nodes(problem, distractors=distractors), *_arrows(problem.graph, distractors)])


def _nodes(problem: Problem, *, distractors: bool) -> Iterator[str]:
    graph = problem.graph
    attacked = {problem.asked[target] for target in problem.poisoned.targets} if problem.poisoned else set()
    for place in range(len(graph.quantities) if distractors else graph.needed):
        name = graph.quantities[place]
        words = f"{name[0]} · {name[1]}".replace('"', "#quot;").replace("<", "#lt;")
        label = f"{words}<br/>{formula(graph.operators[place])}" + " ⚠" * (name in attacked)
        left, right = ("[[", "]]") if name in problem.asked else ("[", "]")
        yield f'  q{place}{left}"{label}"{right}'


def _arrows(graph: Graph, distractors: bool) -> Iterator[str]:  # noqa: FBT001  (private, one caller)
    for parent, child in graph.edges:
        if child < graph.needed:
            yield f"  q{parent} --> q{child}"
        elif distractors:
            yield f"  q{parent} -.-> q{child}"


def formula(operator: Operator, operands: Sequence[str] = ()) -> str:
    """An operator in signs, over its operands or in words for them.

    >>> formula(Operator(form=Form.SUM, modifier=Modifier.TIMES, constant=3), ["x", "y"])
    '3 × (x + y)'
    >>> formula(Operator(form=Form.SUM, modifier=Modifier.TIMES, constant=3))
    '3 × sum'
    """
    if operator.form is Form.CONSTANT:
        return str(operator.constant)
    base = (" − " if operator.form is Form.DIFFERENCE else " + ").join(operands) or _WORDS[operator.form]
    if operator.modifier is Modifier.NONE:
        return base
    if operator.modifier is Modifier.MORE:
        return f"{operator.constant} + {base}"
    return f"{operator.constant} × " + (f"({base})" if len(operands) > 1 else base)


def outline(problem: Problem) -> str:
    """The needed quantities from constants to final ones, one a line: what each is, and from which it is computed."""
    graph = problem.graph
    parents: dict[int, list[int]] = {}
    for parent, child in graph.edges:
        parents.setdefault(child, []).append(parent)
    answers = dict(zip(problem.asked, problem.answers, strict=True))
    lines = []
    for place in range(graph.needed):
        name = graph.quantities[place]
        computed = formula(graph.operators[place], [f"#{parent + 1}" for parent in parents.get(place, ())])
        asked = f"  → asked: {answers[name]}" if name in answers else ""
        lines.append(f"#{place + 1:<3} {name[0]}'s {name[1]} = {computed}{asked}")
    return "\n".join(lines)
