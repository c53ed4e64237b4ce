"""Hypothesis strategies that several tests share: hostile text, plans of any shape, texts that models might write."""

from hypothesis import strategies as st

from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.plan import Edge, Fault, Plan, PlanReport, Step
from mas_orchestra.plan.report import FaultCode, Mode, PlanFormat, Severity
from mas_orchestra.run.outcome import ORCHESTRATOR, CallRecord, Failure, Outcome, StepRecord, Warned
from mas_orchestra.types import DoM, Message, OutcomeStatus, Role, StepStatus, ToolCall, Usage

__all__ = ["FRAGMENTS", "graphs", "hostile_text", "ids", "model_texts", "outcomes", "plans", "usages"]

FRAGMENTS = (
    "<thinking>", "</thinking>", "<think>", "</think>", "<agent>", "</agent>", "<agent_id>", "</agent_id>",
    "<agent_name>", "</agent_name>", "<agent_input>", "</agent_input>", "<required_arguments>",
    "</required_arguments>", "<agent_description>", "</agent_description>", "<agent_output_id>",
    "</agent_output_id>", "<debate_roles>", "</debate_roles>", "<edge>", "</edge>", "<from>", "</from>", "<to>",
    "</to>", "<answer>", "</answer>", "<tool_call>", "<!--", "]]>", "<![CDATA[", "3<n & n<10", "AT&T", "&lt;", "&amp;",
    "&#10;", "&#55296;", "&#x110000;", "${", "}", "${a}", "${ a }", "$", "{", "{{", "{% raw %}", "{{ question }}",
    '"', '"""', "'", '""', "\\", "\\n", "\\u0000", "\\ud800", "\n", "\r\n", "\t", "\x00", "\u2028", "\x85", " ",
    "```json\n", "```", "~~~", "[", "]", ",", ":", '{"steps": [', '{"id": "a"}', "null", "<|start|>", "<|message|>",
    "<|channel|>final", "<|end|>", "assistantfinal", "analysis", "计算", "é", "😀", "step-1", "a", "b", "CoTAgent",
    "DebateAgent", '__import__("os").system("false")', "%s", "{0}", "<script>", "--", ";", "1e999", "-1",
)  # fmt: skip
"""Pieces that mean something to one of the formats, or to what else might read them."""


def hostile_text(max_pieces=8):
    """Text made of the pieces above and of anything else."""
    piece = st.sampled_from(FRAGMENTS) | st.text(max_size=6)
    return st.lists(piece, max_size=max_pieces).map("".join)


def ids():
    """Legal ids of steps, the hostile ones included."""
    return (
        hostile_text(3)
        .map(lambda text: "".join(character for character in text if character not in "${}\r\n").strip())
        .filter(bool)
    )


def model_texts():
    """What a model might write, or what somebody might make it write."""
    return st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=10), max_size=40).map("".join)


@st.composite
def graphs(draw, max_nodes=7):
    """Names and edges of any directed graph: half of them acyclic towards one sink, half with anything in them."""
    nodes = "abcdefghijklmnop"[: draw(st.integers(1, max_nodes))]
    pairs = [(source, target) for source in nodes for target in nodes]
    forward = [(source, target) for source, target in pairs if source < target]
    if draw(st.booleans()):
        kept = draw(st.sets(st.sampled_from(forward))) if forward else set()
        joined = {(node, nodes[-1]) for node in nodes[:-1] if not any(source == node for source, _ in kept)}
        return nodes, sorted(kept | joined)
    return nodes, sorted(draw(st.sets(st.sampled_from(pairs), max_size=len(nodes) + 3)))


@st.composite
def plans(draw, max_steps=6):
    """Valid plans for degree of MAS high: any acyclic graph with one sink, any text in any field.

    The graph is drawn from the sink backwards: every other step is read by one or more later ones.
    """
    names = draw(st.lists(ids(), min_size=1, max_size=max_steps, unique=True))
    reads = {name: [] for name in names}
    for place, name in enumerate(names[:-1]):
        for target in draw(st.sets(st.sampled_from(names[place + 1 :]), min_size=1)):
            reads[target].append(name)
    order = draw(st.permutations(names))
    steps = tuple(draw(_step(name, reads[name], names)) for name in order)
    edges = tuple(Edge(source, target) for target in names for source in reads[target])
    return Plan(thinking=draw(hostile_text()), steps=steps, edges=edges)


@st.composite
def _step(draw, name, sources, names):
    own_references = {f"${{{other}}}" for other in names}
    template = draw(hostile_text().filter(lambda text: "${" not in text and not own_references & {text}))
    for source in draw(st.permutations(sources)):
        template = f"{template}${{{source}}}{draw(hostile_text(2).filter(lambda text: '${' not in text))}"
    agent = draw(st.sampled_from(["CoTAgent", "SCAgent", "ReflexionAgent", "WebSearchAgent", "DebateAgent"]))
    roles = draw(st.lists(hostile_text(3), min_size=2, max_size=4)) if agent == "DebateAgent" else None
    return Step(
        id=name,
        agent=agent,
        description=draw(hostile_text()),
        input=template,
        arguments={"roles": roles} if roles is not None else {},
    )


@st.composite
def usages(draw, max_tokens=10**7):
    """Tokens of a call, reasoning a part of the output."""
    tokens = st.integers(0, max_tokens)
    output = draw(tokens)
    return Usage(
        input_tokens=draw(tokens),
        cache_read_tokens=draw(tokens),
        cache_write_tokens=draw(tokens),
        output_tokens=output,
        reasoning_tokens=draw(st.integers(0, output)),
        estimated=draw(st.booleans()),
    )


WRITTEN = st.lists(
    st.sampled_from([part for part in FRAGMENTS if part.isprintable()]) | st.text(max_size=4), max_size=3
)
"""Short texts, hostile pieces among them; what a file can hold (no half of a surrogate pair)."""


def _texts():
    return WRITTEN.map(lambda parts: "".join(parts).encode("utf-8", "ignore").decode())


def _json_values():
    """Values of details: nothing that JSON has no word for."""
    leaf = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts()
    return st.recursive(leaf, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_texts(), inner, max_size=2))


def _seconds():
    return st.floats(0, 1e6)


def _costs():
    return st.none() | st.floats(0, 1e3)


def _failures():
    return st.none() | st.builds(Failure, code=st.sampled_from(["empty_reply", "rate_limited"]), message=_texts())


def _warnings():
    return st.lists(st.builds(Warned, code=st.just("odd"), message=_texts()), max_size=2).map(tuple)


def _tool_calls():
    return st.lists(st.builds(ToolCall, id=_texts(), name=_texts(), arguments=_texts()), max_size=1).map(tuple)


@st.composite
def _calls(draw, step):
    message = st.builds(
        Message,
        role=st.sampled_from(Role),
        content=_texts(),
        tool_calls=_tool_calls(),
        tool_call_id=st.none() | _texts(),
    )
    choice = st.builds(
        Choice,
        content=_texts(),
        reasoning=_texts(),
        tool_calls=_tool_calls(),
        finish_reason=st.sampled_from(FinishReason),
    )
    return CallRecord(
        step=step,
        purpose=draw(_texts()),
        model=draw(st.sampled_from(["fake:a", "fake:b"])),
        messages=tuple(draw(st.lists(message, max_size=2))),
        samples=draw(st.integers(1, 5)),
        choices=tuple(draw(st.lists(choice, max_size=2))),
        usage=draw(usages()),
        cost_usd=draw(_costs()),
        started_s=draw(_seconds()),
        latency_s=draw(_seconds()),
        queue_s=draw(_seconds()),
        requests=draw(st.integers(0, 6)),
        cached=draw(st.booleans()),
        notes=tuple(draw(st.lists(_texts(), max_size=1))),
        failure=draw(_failures()),
    )


@st.composite
def _step_records(draw, name):
    return StepRecord(
        id=name,
        agent=draw(st.sampled_from(["CoTAgent", "SCAgent"])),
        status=draw(st.sampled_from(StepStatus)),
        input=draw(_texts()),
        output=draw(st.none() | _texts()),
        thinking=draw(_texts()),
        details=draw(st.dictionaries(_texts(), _json_values(), max_size=2)),
        calls=tuple(draw(st.lists(_calls(name), max_size=2))),
        usage=draw(usages()),
        cost_usd=draw(_costs()),
        started_s=draw(st.none() | _seconds()),
        finished_s=draw(st.none() | _seconds()),
        wall_s=draw(_seconds()),
        failure=draw(_failures()),
        warnings=draw(_warnings()),
    )


@st.composite
def _reports(draw):
    place = st.none() | st.integers(1, 99)
    fault = st.builds(
        Fault,
        code=st.sampled_from(FaultCode),
        severity=st.sampled_from(Severity),
        message=_texts(),
        line=place,
        column=place,
        step=st.none() | _texts(),
    )
    steps = tuple(
        Step(
            id=name,
            agent="CoTAgent",
            input=draw(_texts()),
            arguments=draw(st.dictionaries(_texts(), _json_values(), max_size=1)),
        )
        for name in "ab"
    )
    plan = Plan(thinking=draw(_texts()), steps=steps, edges=(Edge("a", "b"),))
    return PlanReport(
        plan=draw(st.none() | st.just(plan)),
        faults=tuple(draw(st.lists(fault, max_size=2))),
        warnings=tuple(draw(st.lists(fault, max_size=2))),
        format=draw(st.none() | st.sampled_from(PlanFormat)),
        mode=draw(st.sampled_from(Mode)),
        dom=draw(st.sampled_from(DoM)),
        sink=draw(st.none() | st.just("b")),
        width=draw(st.integers(0, 9)),
        length=draw(st.integers(0, 9)),
        max_calls=draw(st.integers(0, 99)),
        found=draw(st.none() | st.just(plan)),
    )


@st.composite
def outcomes(draw):
    """Outcomes with anything in any field, as a file can hold it; parts need not agree with each other."""
    return Outcome(
        status=draw(st.sampled_from(OutcomeStatus)),
        system=draw(_texts()),
        question=draw(_texts()),
        task_id=draw(_texts()),
        answer=draw(st.none() | _texts()),
        report=draw(st.none() | _reports()),
        warnings=draw(_warnings()),
        planning=tuple(draw(st.lists(_calls(ORCHESTRATOR), max_size=2))),
        steps=tuple(draw(_step_records(name)) for name in "ab"[: draw(st.integers(0, 2))]),
        calls=draw(st.integers(0, 99)),
        usage=draw(usages()),
        cost_usd=draw(_costs()),
        wall_s=draw(_seconds()),
        critical_path_s=draw(_seconds()),
        failure=draw(_failures()),
        started_at="2026-01-02T03:04:05.678+00:00",
    )
