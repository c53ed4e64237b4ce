"""Every prompt, byte for byte: a change shows in ``golden/prompts.txt`` (rewrite it with ``--update-golden``)."""

from pathlib import Path

from mas_orchestra.agents import CoTAgent, DebateAgent, ReflexionAgent, WebSearchAgent
from mas_orchestra.agents.debate import DebateArguments
from mas_orchestra.search import BM25Retriever, Document
from support.context import RecordingContext, call_of, cut, says, tools

GOLDEN = Path(__file__).parent / "golden" / "prompts.txt"
WHOLE = call_of("What is 6 times 7?")
PART = call_of("What is 6 times 7?", "Name the first factor.")


def scripted(purpose: str, prompt: str):
    """Something to show in every place of every prompt."""
    if purpose == "search round 1":
        return tools(("search", '{"query": "factor"}'), ("open", '{"id": "d1"}'))
    if purpose == "round 1: Bob":
        return cut("<thinking>too long")
    if purpose.startswith("critic"):
        return '{"feedback": "Check the carry.", "correct": false}'
    return "Well.\nHm." if purpose == "solve" else says("42", f"Thought of {purpose}.")


async def rendered() -> str:
    corpus = BM25Retriever([Document(id="d1", title="Factors", text="A factor divides a number.")])
    parts = []
    for agent, call in (
        (CoTAgent(format_retries=1), WHOLE),
        (CoTAgent(format_retries=1), PART),
        (DebateAgent(rounds=2, format_retries=0), call_of(arguments=DebateArguments(roles=("Ann", "Bob")))),
        (ReflexionAgent(rounds=2), WHOLE),
        (WebSearchAgent(iterations=1), WHOLE),
    ):
        context = RecordingContext(reply=scripted, retriever=corpus)
        await agent.run(call, context)
        for asked in context.calls:
            said = "\n".join(f"[{message.role}]\n{message.content}" for message in asked.messages)
            parts.append(f"===== {agent.card.name}, {asked.purpose}\n{said}\n")
    return "\n".join(parts)


async def test_prompts_are_as_recorded(request):
    text = await rendered()
    if request.config.getoption("--update-golden"):
        GOLDEN.write_text(text, encoding="utf-8")

    assert text == GOLDEN.read_text(encoding="utf-8")


async def test_prompts_hold_no_doubled_blank_lines_and_no_blanks_at_line_ends():
    text = await rendered()

    assert "\n\n\n" not in text
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
