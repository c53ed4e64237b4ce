"""What orchestrators really write, followed from the reply to the prompts of the sub-agents."""

import json as js

import pytest

from mas_orchestra.run import Orchestrated, PlanWriter, solve
from mas_orchestra.types import DoM, OutcomeStatus
from support.context import says
from support.endpoint import text

QUESTION = r'Simplify the set {x : x>0} and format as {"a": ${cost}}, \frac{1}{2}'
COT = """<agent>
<agent_id>{id}</agent_id><agent_name>{name}</agent_name>
<required_arguments><agent_input>{input}</agent_input></required_arguments>
</agent>"""


def xml(*steps, edges=""):
    """Steps as id, input and, if it is not CoTAgent, name."""
    return "".join(COT.format(id=s[0], input=s[1], name=s[2] if len(s) > 2 else "CoTAgent") for s in steps) + edges


def edge(source, target):
    return f"<edge><from>{source}</from><to>{target}</to></edge>"


async def ran(endpoint, runtime, reply, **writer):
    """The outcome of a run whose orchestrator replies with this, and what sub-agents were then sent."""
    endpoint.script(text(reply), text(says("42")))
    outcome = await solve(QUESTION, Orchestrated(writer=PlanWriter(repair_turns=0, **writer)), runtime())
    return outcome, [call.prompt for call in endpoint.calls[1:]]


HARMONY = [
    "<|start|>assistant to=functions.create_mas<|channel|>commentary <|constrain|>json<|message|>{plan}<|call|>",
    "<|start|>assistant<|channel|>commentary to=functions.create_mas <|constrain|>json<|message|>{plan}<|call|>",
    "<|channel|>analysis<|message|>No, {other}.<|end|><|start|>assistant<|channel|>final<|message|>{plan}<|return|>",
]
OBJECT = {"steps": [{"id": "a", "agent": "CoTAgent", "input": "Only this."}], "edges": []}


@pytest.mark.parametrize("form", HARMONY, ids=["role", "channel", "analysis"])
async def test_every_form_of_harmony_gives_the_plan(endpoint, runtime, form):
    other = {"steps": [{"id": "b", "agent": "CoTAgent", "input": "A draft."}], "edges": []}
    reply = form.replace("{plan}", js.dumps(OBJECT)).replace("{other}", js.dumps(other))
    outcome, prompts = await ran(endpoint, runtime, reply)
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert "Only this." in prompts[0]
    assert len(prompts) == 1


@pytest.mark.parametrize(
    "task",
    [
        "Find n with 3<n & n<10; AT&T's value if x<y",
        'Explain what </plan> and "<agent>" mean: $5, {y}, \\boxed{2}, 100%, {{ question }}',
        'Nice """ + __import__("os").getcwd() + """ agent \\',
    ],
    ids=["angles", "tags", "code"],
)
async def test_text_reaches_the_sub_agent_byte_for_byte(endpoint, runtime, task):
    plan = {"steps": [{"id": "a", "agent": "CoTAgent", "description": task, "input": task}], "edges": []}
    outcome, prompts = await ran(endpoint, runtime, f"<plan>{js.dumps(plan)}</plan>")
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert task in prompts[0]
    assert outcome.plan.steps[0].description == task


async def test_raw_angles_in_the_tags_of_a_plan_survive_too(endpoint, runtime):
    task = "Find n with 3<n & n<10; AT&T's value if x<y"
    outcome, prompts = await ran(endpoint, runtime, xml(("a", task)))
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert task in prompts[0]


async def test_braces_of_a_question_are_nobodys_references(endpoint, runtime):
    steps = xml(("a", ""), ("b", "Check ${a}."), edges=edge("a", "b"))
    outcome, prompts = await ran(endpoint, runtime, steps)
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert all(QUESTION in prompt for prompt in prompts)
    assert QUESTION in endpoint.calls[0].prompt
    assert "Check 42." in prompts[1]


async def test_an_unknown_reference_is_never_sent_without_a_warning(endpoint, runtime):
    steps = xml(("a", "A."), ("b", "${A} ${a} ${zzz}"), edges=edge("a", "b"))
    outcome, prompts = await ran(endpoint, runtime, steps)
    assert "${A} 42 ${zzz}" in prompts[1]
    warned = [str(warning.code) for warning in outcome.report.warnings]
    assert warned == ["unknown_reference"] * 2


async def test_a_missing_edge_is_added_and_a_missing_reference_is_appended(endpoint, runtime):
    steps = xml(("a", "A."), ("b", "B on ${a}."), ("c", "C."), edges=edge("b", "c"))
    outcome, prompts = await ran(endpoint, runtime, steps)
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert "B on 42." in prompts[1]
    assert prompts[2].count("42") == 1, "the answer of b was not thrown away"


@pytest.mark.parametrize(
    ("reply", "codes"),
    [
        (
            xml(("s1", "part A"), ("s1", "part B", "SCAgent"), edges=edge("s1", "s1_end")),
            ["duplicate_id", "undeclared_endpoint"],
        ),
        (xml(("a", "${b}"), ("b", "${a}"), edges=edge("a", "b") + edge("b", "a")), ["cycle"]),
        (xml(("a", ""), ("b", "${a}"), ("c", "${a}"), edges=edge("a", "b") + edge("a", "c")), ["multiple_sinks"]),
        (xml(("a", ""), ("b", ""), ("c", "")), ["disconnected", "multiple_sinks"]),
        ('{"steps": [{"id": "a", "agent": "CoTAgent", "input": "never closed}], "edges": []}', ["malformed_json"]),
        ("I would rather talk.", ["no_plan"]),
    ],
    ids=["duplicate", "cycle", "sinks", "islands", "quote", "prose"],
)
async def test_what_cannot_be_repaired_is_named_and_nothing_of_it_runs(endpoint, runtime, reply, codes):
    outcome, prompts = await ran(endpoint, runtime, reply)
    assert outcome.status is OutcomeStatus.INVALID_PLAN
    assert set(codes) <= {str(fault.code) for fault in outcome.faults}
    assert prompts == []
    assert outcome.usage.total_tokens == 34


@pytest.mark.parametrize(
    "reply",
    [
        '```json\n{"steps": [{"id": "a", "agent": "CoTAgent", "input": "Only this.",}], "edges": [],}\n```',
        "{'steps': [{'id': 'a', 'agent': 'cot_agent', 'input': 'Only this.'}], 'edges': []}",
        xml(("a", "Only this.", "Chain-of-Thought")),
        xml(("", "Only this.")),
    ],
    ids=["commas", "quotes", "alias", "no id"],
)
async def test_listed_slips_are_mended_named_and_run(endpoint, runtime, reply):
    outcome, prompts = await ran(endpoint, runtime, reply)
    assert outcome.status is OutcomeStatus.ANSWERED, outcome.faults
    assert "Only this." in prompts[0]
    assert outcome.report.warnings


async def test_a_direct_answer_under_low_calls_nobody(endpoint, runtime):
    outcome, prompts = await ran(endpoint, runtime, "<thinking>easy</thinking><answer>x &gt; 0</answer>", dom=DoM.LOW)
    assert (outcome.status, outcome.answer) == (OutcomeStatus.ANSWERED, "x > 0")
    assert prompts == []
