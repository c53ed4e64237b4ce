"""What simulated sub-agents pay for each hand-written design: accuracy and calls, by axis and value. SIMULATED.

    python benchmarks/simulated_shapes.py [PROFILE…] [--texts N]

Nothing of this was fitted: profiles are fitted to single agents (benchmarks/calibrate_simulator.py), and these are what
they predict for several. Texts are those of the standard sweeps' sizes; robustness asks as many problems as the horizon
sweep's text of that value, all but the last of them attacked, as the paper's do.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping

from mas_orchestra.agents.registry import Registry
from mas_orchestra.masbench.axes import sweep
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.problem import AttackKind, Axis, Problem, Split
from mas_orchestra.masbench.score import score_answers
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.run import Runtime
from mas_orchestra.run.system import FixedPlan, StandaloneAgent, System
from mas_orchestra.simulate.model import SimulatedModel
from mas_orchestra.simulate.profile import profiles
from mas_orchestra.tasks.task import Task

VALUES = (2, 4, 6)
CELLS = (
    *((Axis.DEPTH, value) for value in VALUES),
    *((Axis.BREADTH, value) for value in VALUES),
    *((Axis.PARALLEL, value) for value in VALUES),
    *((Axis.HORIZON, value) for value in VALUES),
    *((Axis.ROBUSTNESS, value) for value in VALUES),
)


def problems(axis: Axis, value: int, count: int) -> Iterator[Problem]:
    """The first problems of a cell."""
    parameters, attack = sweep(axis)[value], None
    if axis is Axis.ROBUSTNESS:
        parameters = sweep(Axis.HORIZON)[value].model_copy(update={"r": value - 1})
        attack = AttackKind.NOTE
    recipe = Recipe(axis=axis, value=value, parameters=parameters, split=Split.TEST, attack=attack)
    return (generate(recipe, index) for index in range(count))


def fan(asked: int) -> Plan:
    """A worker for each problem, then a step that puts their answers together: v + 1 steps, width v, length 2."""
    workers = tuple(Step(id=f"s{k}", agent="CoTAgent", input=_solve(k, asked)) for k in range(1, asked + 1))
    read = ", ".join(f"${{{worker.id}}}" for worker in workers)
    sink = Step(id="all", agent="CoTAgent", input=f"Put the answers together: {read}")
    return Plan(steps=(*workers, sink), edges=tuple(Edge(worker.id, "all") for worker in workers))


def chain(asked: int) -> Plan:
    """Each step solves one problem, given the answers to all before it; the last one gives all: length v + 1."""
    steps, edges = [], []
    for k in range(1, asked + 2):
        earlier = [f"s{j}" for j in range(1, k)]
        given = f"Given: {', '.join(f'${{{name}}}' for name in earlier)}. " if earlier else ""
        task = _solve(k, asked) if k <= asked else "Answer the whole question."
        steps.append(Step(id=f"s{k}", agent="CoTAgent", input=given + task))
        edges += [Edge(name, f"s{k}") for name in earlier]
    return Plan(steps=tuple(steps), edges=tuple(edges))


def _solve(k: int, asked: int) -> str:
    return f"Solve Problem {k}." if asked > 1 else ""


def systems(asked: int) -> Mapping[str, System]:
    """Every design, by its column."""
    return {
        "CoT": StandaloneAgent(agent="CoTAgent"),
        "SC": StandaloneAgent(agent="SCAgent"),
        "debate": StandaloneAgent(agent="DebateAgent", arguments={"roles": ["Solver", "Sceptic"]}),
        "reflexion": StandaloneAgent(agent="ReflexionAgent"),
        "fan": FixedPlan(plan=fan(asked)),
        "chain": FixedPlan(plan=chain(asked)),
    }


async def measured(profile: str, axis: Axis, value: int, texts: int) -> dict[str, tuple[float, float]]:
    """Accuracy (all answers right) and calls a text of each design."""
    runtime = Runtime(model=SimulatedModel(profile), registry=Registry.installed())
    right: dict[str, int] = {}
    calls: dict[str, int] = {}
    for problem in problems(axis, value, texts):
        task = Task(id=problem.id, question=problem.question, answers=tuple(map(str, problem.answers)))
        for name, system in systems(len(problem.asked)).items():
            outcome = await system.solve(task, runtime)
            is_right = score_answers(outcome.answer or "", problem.answers).strict.all_correct
            right[name] = right.get(name, 0) + is_right
            calls[name] = calls.get(name, 0) + outcome.calls
    return {name: (right[name] / texts, calls[name] / texts) for name in right}


def main() -> None:
    """Print one Markdown table a profile."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="*", default=list(profiles()))
    parser.add_argument("--texts", type=int, default=200, help="texts a cell")
    chosen = parser.parse_args()
    names = tuple(systems(1))
    for profile in chosen.profiles:
        print(f"### `sim:{profile}` (SIMULATED): accuracy, and calls in brackets\n")
        print(f"| axis | value | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
        for axis, value in CELLS:
            found = asyncio.run(measured(profile, axis, value, chosen.texts))
            shown = " | ".join(f"{found[name][0]:.3f} ({found[name][1]:.1f})" for name in names)
            print(f"| {axis} | {value} | {shown} |", flush=True)
        print()


if __name__ == "__main__":
    main()
