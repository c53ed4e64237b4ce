import asyncio
import json

import pytest

from mas_orchestra import plan as language
from mas_orchestra.errors import ContextOverflowError, UnreachableError
from mas_orchestra.models.base import Abilities, Choice, Completion, FinishReason, Params
from mas_orchestra.plan.compact import compact_messages, compact_schema
from mas_orchestra.plan.report import PlanFormat
from mas_orchestra.run import Limits, Orchestrated, PlanWriter, solve
from mas_orchestra.run.events import PlanParsed
from mas_orchestra.types import DoM, OutcomeStatus, ToolCall, Usage
from support.runs import FakeModel, runtime_of
from support.virtual_time import run_virtual

TWO_STEPS = json.dumps(
    {
        "thinking": "split",
        "steps": [
            {"id": "a", "agent": "Echo", "input": "part one"},
            {"id": "b", "agent": "Echo", "input": "finish ${a}"},
        ],
        "edges": [["a", "b"]],
    }
)
CYCLE = json.dumps(
    {
        "thinking": "",
        "steps": [
            {"id": "a", "agent": "Echo", "input": "${b}"},
            {"id": "b", "agent": "Echo", "input": "${a}"},
        ],
        "edges": [["a", "b"], ["b", "a"]],
    }
)


class Orchestrator(FakeModel):
    """Writes one text after the other, the last one for ever; remembers what it was sent."""

    def __init__(self, *texts, finish=FinishReason.STOP, **options):
        super().__init__(**options)
        self.texts = list(texts)
        self.finish = finish
        self.conversations = []

    async def complete(self, messages, params, *, queue=None):
        self.conversations.append(messages)
        self.params.append(params)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        if isinstance(text, Exception):
            raise text
        choice = text if isinstance(text, Choice) else Choice(content=text, finish_reason=self.finish)
        usage = Usage(input_tokens=100, output_tokens=20)
        return Completion(choices=(choice,), usage=usage, model="fake", latency_s=0.0)


def run(orchestrator, *, listeners=(), limits=Limits(), **writer):
    model = FakeModel()
    runtime = runtime_of(model, orchestrator=orchestrator, listeners=listeners, limits=limits)
    system = Orchestrated(writer=PlanWriter(**writer))
    return run_virtual(solve("Why?", system, runtime)), model


def test_a_model_writes_the_plan_and_the_plan_answers():
    outcome, model = run(Orchestrator(TWO_STEPS))
    assert outcome.status is OutcomeStatus.ANSWERED
    assert outcome.answer == "<finish <part one>>"
    assert model.prompts == ["part one", "finish <part one>"]
    assert [call.purpose for call in outcome.planning] == ["plan"]
    assert outcome.calls == 3
    assert outcome.usage.input_tokens == 100 + 2 * 10


def test_the_question_reaches_the_orchestrator_word_for_word():
    orchestrator = Orchestrator(TWO_STEPS)
    run(orchestrator)
    assert "Why?" in orchestrator.conversations[0][-1].content


def test_a_bad_plan_is_asked_for_again_with_its_faults():
    events = []
    orchestrator = Orchestrator(CYCLE, TWO_STEPS)
    outcome, _ = run(orchestrator, listeners=(events.append,))
    assert outcome.status is OutcomeStatus.ANSWERED
    assert [call.purpose for call in outcome.planning] == ["plan", "plan, repair turn 1"]
    again = "\n".join(message.content for message in orchestrator.conversations[1])
    assert "a -> b -> a" in again
    assert [event.attempt for event in events if isinstance(event, PlanParsed)] == [1, 2]


def test_the_same_bad_text_twice_ends_it_at_once():
    orchestrator = Orchestrator('<DSML tool_name="Echo">solve it</DSML>')
    outcome, model = run(orchestrator, repair_turns=10)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert len(orchestrator.conversations) == 2
    assert outcome.usage.total_tokens == 240
    assert outcome.failure.code == "no_plan"
    assert model.prompts == []


@pytest.mark.parametrize(("turns", "asked"), [(0, 1), (1, 2), (2, 3)])
def test_repair_turns_are_bounded(turns, asked):
    orchestrator = Orchestrator(*(f"nothing {number}" for number in range(20)))
    outcome, _ = run(orchestrator, repair_turns=turns)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert len(orchestrator.conversations) == asked


def test_a_plan_cut_off_by_length_is_neither_run_nor_asked_for_again():
    cut = "<agent><agent_id>a</agent_id><agent_name>Echo</agent_name></agent><edge><from>a</from><to>"
    orchestrator = Orchestrator(cut, finish=FinishReason.LENGTH)
    outcome, model = run(orchestrator)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert "truncated_plan" in [fault.code for fault in outcome.faults]
    assert len(orchestrator.conversations) == 1
    assert model.prompts == []


def test_reasoning_without_text_is_no_plan():
    empty = Choice(content="", reasoning=TWO_STEPS)
    outcome, model = run(Orchestrator(empty), repair_turns=0)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert outcome.usage.output_tokens == 20
    assert model.prompts == []


def test_an_empty_text_is_asked_for_once_more_word_for_word():
    """There is nothing in it to be mended, and many endpoints refuse a turn of the assistant without content."""
    orchestrator = Orchestrator(Choice(content="", reasoning="So final: 42"), TWO_STEPS)
    outcome, _ = run(orchestrator)
    assert outcome.status is OutcomeStatus.ANSWERED
    assert orchestrator.conversations[0] == orchestrator.conversations[1]
    assert outcome.usage.output_tokens == 2 * 20 + 2 * 5


def test_two_empty_texts_end_it_with_the_fault_named():
    orchestrator = Orchestrator(Choice(content="", reasoning=TWO_STEPS))
    outcome, model = run(orchestrator, repair_turns=10)
    assert (outcome.status, outcome.failure.code) == (OutcomeStatus.INVALID_PLAN, "no_plan")
    assert "empty" in outcome.failure.message
    assert len(orchestrator.conversations) == 2
    assert model.prompts == []


def test_a_direct_answer_under_low():
    direct = json.dumps({"thinking": "easy", "steps": [], "edges": [], "answer": "4"})
    outcome, model = run(Orchestrator(direct), dom=DoM.LOW)
    assert (outcome.status, outcome.answer) == (OutcomeStatus.ANSWERED, "4")
    assert outcome.steps == ()
    assert model.prompts == []


def test_a_direct_answer_is_refused_under_high():
    direct = json.dumps({"thinking": "easy", "steps": [], "edges": [], "answer": "4"})
    outcome, _ = run(Orchestrator(direct), repair_turns=0)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert "dom_violation" in [fault.code for fault in outcome.faults]


def test_text_without_a_plan_is_an_answer_only_on_request():
    assert run(Orchestrator("It is 4."), repair_turns=0)[0].status is OutcomeStatus.INVALID_PLAN
    outcome, _ = run(Orchestrator("It is 4."), answer_without_plan=True, dom=DoM.LOW)
    assert (outcome.status, outcome.answer) == (OutcomeStatus.ANSWERED, "It is 4.")


def test_a_schema_is_asked_for_where_the_model_can_enforce_one():
    orchestrator = Orchestrator(TWO_STEPS)
    run(orchestrator)
    assert orchestrator.params[0].response_schema.schema == language.json_schema(
        runtime_of(FakeModel()).registry.catalog, DoM.HIGH
    )


def test_xml_is_asked_for_where_it_cannot():
    orchestrator = Orchestrator(TWO_STEPS, abilities=Abilities(json_schema=False))
    run(orchestrator)
    assert orchestrator.params[0].response_schema is None
    assert "<agent>" in "".join(message.content for message in orchestrator.conversations[0])


def test_native_tool_calls_are_a_plan():
    plan = language.read(TWO_STEPS, catalog=runtime_of(FakeModel()).registry.catalog).plan
    calls = json.loads(language.render(plan, "tools", runtime_of(FakeModel()).registry.catalog))
    calls = calls["tool_calls"] if isinstance(calls, dict) else calls
    native = tuple(
        ToolCall(id=call["id"], name=call["function"]["name"], arguments=call["function"]["arguments"])
        for call in calls
    )
    orchestrator = Orchestrator(Choice(content="", tool_calls=native, finish_reason=FinishReason.TOOL_CALLS))
    outcome, _ = run(orchestrator, format=PlanFormat.TOOLS)
    assert outcome.answer == "<finish <part one>>"
    assert orchestrator.params[0].tools


def test_a_broken_endpoint_leaves_the_run_unscored():
    outcome, _ = run(Orchestrator(UnreachableError("no route", usage=Usage(output_tokens=3))))
    assert (outcome.status, outcome.failure.code) == (OutcomeStatus.ENDPOINT_ERROR, "unreachable")
    assert outcome.usage.output_tokens == 3


def test_a_question_too_long_for_the_orchestrator_is_no_broken_service():
    outcome, _ = run(Orchestrator(ContextOverflowError("600 tokens do not fit into 512")))
    assert (outcome.status, outcome.failure.code) == (OutcomeStatus.INVALID_PLAN, "context_overflow")


def test_planning_is_charged_to_the_budget():
    outcome, model = run(Orchestrator(TWO_STEPS), limits=Limits(max_calls=2))
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert "plan_too_large" in [fault.code for fault in outcome.faults]
    assert model.prompts == []


def test_planning_is_on_the_critical_path():
    class SlowOrchestrator(Orchestrator):
        async def complete(self, messages, params, *, queue=None):
            await asyncio.sleep(5)
            return await super().complete(messages, params, queue=queue)

    outcome, _ = run(SlowOrchestrator(TWO_STEPS))
    assert outcome.critical_path_s == pytest.approx(5)


def test_parameters_of_the_writer_are_sent():
    orchestrator = Orchestrator(TWO_STEPS)
    run(orchestrator, params=Params(temperature=1.0, max_tokens=77))
    assert (orchestrator.params[0].temperature, orchestrator.params[0].max_tokens) == (1.0, 77)


def test_a_very_small_model_gets_the_short_prompt_and_the_closed_schema():
    orchestrator = Orchestrator(TWO_STEPS, abilities=Abilities(small=True))
    run(orchestrator)
    catalog = runtime_of(FakeModel()).registry.catalog
    assert orchestrator.params[0].response_schema.schema == compact_schema(catalog, DoM.HIGH)
    assert orchestrator.conversations[0] == compact_messages("Why?", catalog=catalog, dom=DoM.HIGH)


def test_a_prompt_of_the_users_own_wins_over_the_short_one(tmp_path):
    template = tmp_path / "mine.jinja"
    template.write_text("Plan this: {{ question }}")
    orchestrator = Orchestrator(TWO_STEPS, abilities=Abilities(small=True))
    run(orchestrator, prompt=template)
    assert [message.content for message in orchestrator.conversations[0]] == ["Plan this: Why?"]
