"""A plan as a Mermaid flowchart."""

import re
from textwrap import shorten

from mas_orchestra.plan.schema import Plan, Step

__all__ = ["mermaid"]

_PLAIN = re.compile(r"[^\w .,;?!+*/=()-]", re.ASCII)


def mermaid(plan: Plan) -> str:
    """A top-down flowchart; every text is escaped, so that it can only be seen.

    >>> print(mermaid(Plan(answer='"42"')))
    flowchart TD
      answer["answer: #34;42#34;"]
    """
    if plan.answer is not None and not plan.steps:
        return f'flowchart TD\n  answer["answer: {_label(plan.answer)}"]'
    names = {step.id: f"s{number}" for number, step in enumerate(plan.steps, 1)}
    lines = [f'  {names[step.id]}["{_text(step)}"]' for step in plan.steps]
    lines += [
        f"  {names[edge.source]} --> {names[edge.target]}"
        for edge in plan.edges
        if edge.source in names and edge.target in names
    ]
    return "\n".join(["flowchart TD", *lines])


def _text(step: Step) -> str:
    parts = [f"<b>{_label(step.id)}</b>", _label(step.agent)]
    if step.description.strip():
        parts.append(_label(step.description))
    return "<br/>".join(parts)


def _label(text: str) -> str:
    """One short line in which every character that could mean something to Mermaid or HTML is a number."""
    return _PLAIN.sub(lambda match: f"#{ord(match[0])};", shorten(text, 60, placeholder="…"))
