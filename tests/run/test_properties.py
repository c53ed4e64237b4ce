"""What holds of every plan, whatever its graph and whatever the timing."""

import asyncio
import hashlib
import json
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mas_orchestra import plan as language
from mas_orchestra.agents import Registry
from mas_orchestra.models.base import Abilities, Choice, Completion, FinishReason
from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.run import FixedPlan, Runtime, solve
from mas_orchestra.run.executor import Executor
from mas_orchestra.run.session import Session
from mas_orchestra.search import BM25Retriever, Document
from mas_orchestra.tasks.task import Task
from mas_orchestra.types import OutcomeStatus, StepStatus, ToolCall, Usage
from strategies import graphs, plans
from support.runs import FakeModel, echo_plan, runtime_of
from support.virtual_time import run_virtual

# --- the validator accepts exactly what the executor can finish ------------------------------------------------------


def execute_unchecked(plan, model):
    """The records of a plan that nobody checked, and whether the executor came to an end at all."""

    async def main():
        executor = Executor(plan, Session(Task(id="t", question="Why?"), runtime_of(model)))
        await executor.run()
        return executor.records

    return run_virtual(main())


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_the_validator_accepts_exactly_what_the_executor_can_finish(graph, rng):
    """Finished: every step answered, and one answer that no step reads. Cycles, loops and islands included."""
    nodes, edges = graph
    plan = echo_plan(*(f"{source}>{target}" for source, target in edges), steps=nodes)
    delays = {node: rng.random() for node in nodes}
    records = execute_unchecked(plan, FakeModel(latency=lambda prompt: delays[prompt[0]]))

    unread = set(nodes) - {source for source, _ in edges}
    finished = all(record.status is StepStatus.ANSWERED for record in records.values()) and len(unread) == 1
    report = language.check(plan, mode="strict", catalog=runtime_of(FakeModel()).catalog)
    assert report.valid == finished, report.faults
    assert records.keys() == set(nodes)
    if report.valid:
        assert {report.sink} == unread


@given(graphs())
def test_a_step_of_a_cycle_never_starts_and_nothing_hangs(graph):
    nodes, edges = graph
    plan = echo_plan(*(f"{source}>{target}" for source, target in edges), steps=nodes)
    records = execute_unchecked(plan, FakeModel())
    ran = {name for name, record in records.items() if record.status is StepStatus.ANSWERED}
    assert all(source in ran for source, target in edges if target in ran), "nothing runs before what it reads"
    assert {record.failure.code for record in records.values() if record.failure} <= {"not_started"}


# --- the same prompts for any timing ---------------------------------------------------------------------------------


class TimedModel:
    """Answers by the messages alone, after a time that `rng` draws: calls end in another order every time."""

    uri = "test:timed"
    abilities = Abilities()

    def __init__(self, rng):
        self._rng = rng
        self.asked = []

    def cost_usd(self, usage):
        return 0.0

    async def close(self):
        pass

    async def complete(self, messages, params, *, queue=None):
        said = json.dumps(
            [[message.role, message.content, [c.arguments for c in message.tool_calls]] for message in messages]
        )
        self.asked.append((said, params))
        await asyncio.sleep(self._rng.random())
        choices = tuple(self._choice(f"{said} {sample}", params, messages) for sample in range(params.n))
        return Completion(choices=choices, usage=Usage(input_tokens=1, output_tokens=1), model="m", latency_s=0.0)

    @staticmethod
    def _choice(said, params, messages):
        number = int(hashlib.sha256(said.encode("utf-8", "replace")).hexdigest(), 16)
        if params.tools and number % 3:
            words = ("six", "seven", "tide")[: 1 + number % 3]
            tool_calls = tuple(
                ToolCall(id=f"c{at}", name="search", arguments=json.dumps({"query": word}))
                for at, word in enumerate(words)
            )
            return Choice(content="", tool_calls=tool_calls, finish_reason=FinishReason.TOOL_CALLS)
        if "You are a critic" in messages[0].content:
            verdict = {"feedback": f"note {number % 97}", "correct": number % 4 == 0}
            return Choice(content=json.dumps(verdict))
        reply = {"thinking": f"thought {number % 9973}", "answer": str(number % 3)}
        return Choice(content=json.dumps(reply) if number % 11 else "")


class SlowCorpus(BM25Retriever):
    """Searches that end in any order."""

    rng = random.Random(0)

    async def search(self, query, *, limit=5):
        await asyncio.sleep(self.rng.random())
        return await super().search(query, limit=limit)


CORPUS = SlowCorpus([Document(id=f"d{number}", title="T", text=f"six seven tide {number}") for number in range(4)])


def told(plan, rng):
    """Everything that was said to the model, and everything that came of it, times aside."""
    model = TimedModel(rng)
    CORPUS.rng = rng
    options = {"DebateAgent": {"rounds": 2}, "ReflexionAgent": {"rounds": 2}, "WebSearchAgent": {"iterations": 2}}
    registry = Registry.only("CoTAgent", "SCAgent", "DebateAgent", "ReflexionAgent", "WebSearchAgent", options=options)
    runtime = Runtime(model=model, registry=registry, retriever=CORPUS, on_step_error="partial")
    outcome = run_virtual(solve("Why does the tide turn?", FixedPlan(plan=plan), runtime))
    assert outcome.status in {OutcomeStatus.ANSWERED, OutcomeStatus.STEP_FAILED}
    steps = [
        (step.id, step.status, step.input, step.output, step.thinking, json.dumps(step.details), step.failure)
        for step in outcome.steps
    ]
    return sorted(model.asked, key=repr), steps, outcome.answer, outcome.usage


EVERY_AGENT = Plan(
    steps=(
        Step(id="facts", agent="WebSearchAgent", input="Look up."),
        Step(id="more facts", agent="WebSearchAgent", input=""),
        Step(id="vote", agent="SCAgent", input="Vote on ${facts}."),
        Step(id="talk", agent="DebateAgent", input="On ${facts}.", arguments={"roles": ["A", "B", "A"]}),
        Step(id="mend", agent="ReflexionAgent", input="${vote} ${more facts}"),
        Step(id="end", agent="CoTAgent", input="${talk} ${mend}"),
    ),
    edges=(
        *(Edge("facts", "vote"), Edge("facts", "talk"), Edge("vote", "mend"), Edge("more facts", "mend")),
        *(Edge("talk", "end"), Edge("mend", "end")),
    ),
)


@given(st.integers(0, 2**32), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_every_sub_agent_says_the_same_bytes_for_any_timing(one, other):
    first, second = told(EVERY_AGENT, random.Random(one)), told(EVERY_AGENT, random.Random(other))
    assert first == second


@given(plans(max_steps=4), st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_so_does_every_valid_plan(plan, seed):
    roles = {"arguments": {"roles": ["A", "B"]}}  # those drawn may be blank, which the real debate refuses
    steps = tuple(step.model_copy(update=roles) if step.arguments else step for step in plan.steps)
    plan = plan.model_copy(update={"steps": steps})
    assert told(plan, random.Random(0)) == told(plan, random.Random(seed))
