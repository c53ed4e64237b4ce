"""Hypothesis strategies that several tests share: hostile text, plans of any shape, texts that models might write."""

from hypothesis import strategies as st

from mas_orchestra.plan import Edge, Plan, Step
from mas_orchestra.types import Usage

__all__ = ["FRAGMENTS", "graphs", "hostile_text", "ids", "model_texts", "plans", "usages"]

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
