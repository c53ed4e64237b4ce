"""The sub-agent: the model writes an expression, and it is computed rather than guessed."""

from typing import Annotated

from pydantic import Field

from mas_orchestra.agents import AgentContext, StepCall, StepOutcome, sub_agent
from mas_orchestra.errors import StepError
from mas_orchestra.models.base import Params
from mas_orchestra.types import Message, Role
from outside_agent.arithmetic import compute, shown

__all__ = ["Calculator"]

SYSTEM = "You write one arithmetic expression with numbers, + - * / % ** and brackets, and nothing else."


@sub_agent(aliases=("calc",))
async def Calculator(  # noqa: N802  (sub-agents are named like classes, for that is how plans name them)
    context: AgentContext, call: StepCall, *, digits: Annotated[int, Field(ge=0, le=20)] = 6
) -> StepOutcome:
    """Turns its sub-task into one arithmetic expression and computes it exactly.

    Sums, products and quotients of given numbers, where a slip would spoil all that follows.

    Args:
        context: Gives access to the model.
        call: Question and sub-task.
        digits: Most digits after the point.
    """
    task = f"{call.question}\n\n{call.task}" if call.task else call.question
    messages = (Message(role=Role.SYSTEM, content=SYSTEM), Message(role=Role.USER, content=task))
    completion = await context.complete(messages, Params(temperature=0), purpose="write the expression")
    expression = completion.content.strip().strip("`").strip()
    try:
        value = compute(expression)
    except ValueError as error:
        raise StepError("bad_expression", f"the model wrote no expression that can be computed: {error}") from None
    return StepOutcome(answer=shown(value, digits), thinking=expression, details={"expression": expression})
