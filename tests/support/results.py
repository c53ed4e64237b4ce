"""Stored runs made up for tests of scoreboards and reports: every number decided by the test or by its seed."""

from mas_orchestra import seeds
from mas_orchestra.evaluate.results import Attempt, RunResults, SystemInfo
from mas_orchestra.plan.schema import Edge, Plan, Step
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus, Usage

DELEGATION = Plan(steps=(Step(id="all", agent="ReflexionAgent"),))
DIAMOND = Plan(
    steps=(
        Step(id="facts", agent="CoTAgent", description="List the facts", input="List what is given."),
        Step(id="left", agent="SCAgent", description="First way", input="Solve by cases: ${facts}"),
        Step(
            id="right",
            agent="DebateAgent",
            description="Second way",
            input="Argue about ${facts}",
            arguments={"roles": ["Statistician", "Sceptic"]},
        ),
        Step(id="join", agent="CoTAgent", description="Decide", input="Decide between ${left} and ${right}"),
    ),
    edges=(Edge("facts", "left"), Edge("facts", "right"), Edge("left", "join"), Edge("right", "join")),
)
VOTE = Plan(
    steps=(
        *(Step(id=f"try {number}", agent="CoTAgent", input="Solve it.") for number in range(3)),
        Step(id="vote", agent="CoTAgent", input="Most common of ${try 0}, ${try 1}, ${try 2}"),
    ),
    edges=tuple(Edge(f"try {number}", "vote") for number in range(3)),
)
SHAPES = {id(DELEGATION): (1, 1), id(DIAMOND): (2, 3), id(VOTE): (3, 2)}


def info(name, *, single=False, simulated=False, reference=False):
    return SystemInfo(name=name, is_single_agent=single, is_simulated=simulated, is_reference=reference)


def task(name, *, axis=None, value=None, question=None, answers=("1",)):
    metadata = {} if axis is None else {"axis": axis, "value": value}
    return Task(id=name, question=question or f"Question {name}?", answers=answers, kind="numbers", metadata=metadata)


def attempt(system, task_id, number=0, *, score=1.0, plan=None, cost_usd=0.01, **more):
    """One attempt; without a score, its endpoint broke."""
    width, length = SHAPES.get(id(plan), (0, 0))
    values = {
        "seed": number,
        "status": OutcomeStatus.ANSWERED if score is not None else OutcomeStatus.ENDPOINT_ERROR,
        "answer": None if score is None else str(int(score)),
        "reason": {None: "endpoint_error", 1.0: "right"}.get(score, "wrong"),
        "plan": plan,
        "agents": tuple(step.agent for step in plan.steps) if plan else (),
        "width": width,
        "length": length,
        "calls": 3,
        "usage": Usage(input_tokens=400, output_tokens=100),
        "wall_s": 2.0,
        "critical_path_s": 1.5,
    }
    return Attempt(system=system, task_id=task_id, attempt=number, score=score, cost_usd=cost_usd, **(values | more))


def run(systems, tasks, attempts, *, name="run", k=1, facts=None, config=""):
    return RunResults(
        name=name,
        systems=tuple(systems),
        tasks=tuple(tasks),
        attempts=tuple(attempts),
        attempts_per_task=k,
        facts=facts or {},
        config=config,
    )


def duel(system_scores, reference_scores, **options):
    """A multi-agent system against a single agent, one attempt a task; scores may be ``None``."""
    tasks = [task(f"t{number}") for number in range(max(len(system_scores), len(reference_scores)))]
    attempts = [
        attempt(name, f"t{number}", score=score)
        for name, scores in (("mas", system_scores), ("cot", reference_scores))
        for number, score in enumerate(scores)
    ]
    return run([info("cot", single=True, reference=True), info("mas")], tasks, attempts, **options)


AXES = {"depth": (2, 4, 6, 8, 10), "breadth": (2, 4, 6), "robustness": (0, 1, 2)}
_STUDY = {
    # name: (skill, loss a step along the axis, cost, calls, plans)
    "cot": (0.86, 0.09, 0.0021, 1, ()),
    "sc:5": (0.89, 0.08, 0.0103, 5, ()),
    "orchestrated:openai:small-orchestrator dom=high": (0.93, 0.04, 0.0149, 9, (DIAMOND, DELEGATION, VOTE)),
    "plan:expert.xml": (0.82, 0.06, 0.0240, 14, (DIAMOND,)),
    "best_of:4": (0.80, 0.15, 0.0061, 7, (DELEGATION, DELEGATION, DIAMOND)),
}


def study(*, per_value=12, k=4, simulated=True, seed=0, axes=AXES):
    """A whole evaluation on an invented MASBENCH: five systems, some errors, invalid plans and debates."""
    tasks = [
        task(f"{axis}-{value}-{number}", axis=axis, value=value, question=_question(axis, value, number))
        for axis, values in axes.items()
        for value in values
        for number in range(per_value)
    ]
    systems = [
        info(name, single=not plans, reference=name == "cot", simulated=simulated and name.startswith("orchestrated"))
        for name, (*_, plans) in _STUDY.items()
    ]
    attempts = [_drawn(name, one, number, axes, seed) for name in _STUDY for one in tasks for number in range(k)]
    facts = {
        "command": "mas eval run study.toml",
        "commit": "0123abc",
        "models": {"sub-agents": "sim:paper", "orchestrator": "openai:small-orchestrator"},
        "judge": None,
        "versions": {"mas-orchestra": "0.1.0", "python": "3.12.1"},
        "seeds": [seed],
    }
    config = '[tasks]\nloader = "masbench"\nattempts = 4\n'
    return run(systems, tasks, attempts, name="study", k=k, facts=facts, config=config)


def _question(axis, value, number):
    return f"[{axis} {value}] The Elmwood depot holds {number + 3} crates, each with {value} boxes. How many boxes?"


def _drawn(name, one, number, axes, seed):
    skill, loss, cost_usd, calls, plans = _STUDY[name]
    rng = seeds.rng("study", seed, name, one.id, number)
    hard = seeds.rng("study", seed, one.id).gauss(0, 0.12)
    place = axes[one.metadata["axis"]].index(one.metadata["value"])
    score = float(rng.random() < skill - loss * place - hard)
    plan = rng.choice(plans) if plans else None
    more = {
        "calls": calls,
        "usage": Usage(input_tokens=calls * rng.randint(300, 900), output_tokens=calls * rng.randint(80, 300)),
        "wall_s": calls**0.5 * rng.uniform(0.8, 3.0),
        "seed": seed,
    }
    if rng.random() < 0.02:
        return attempt(name, one.id, number, score=None, cost_usd=0.0, **more)
    if plans and rng.random() < 0.05:
        code = rng.choice(("cycle", "multiple_sinks", "unknown_agent"))
        more |= {"status": OutcomeStatus.INVALID_PLAN, "fault_codes": (code,), "answer": None, "reason": "invalid_plan"}
        return attempt(name, one.id, number, score=0.0, cost_usd=cost_usd / 5, **more)
    if plan is DIAMOND:
        more["first_round_unanimous"] = float(rng.random() < 0.6)
    return attempt(name, one.id, number, score=score, plan=plan, cost_usd=cost_usd * rng.uniform(0.8, 1.2), **more)
