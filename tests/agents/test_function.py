"""Functions as sub-agents: the signature is the schema, the docstring the card."""

from typing import Literal

import pytest
from pydantic import ValidationError

from mas_orchestra.agents import AgentContext, Registry, StepCall, StepOutcome, sub_agent
from mas_orchestra.errors import ConfigError, StepError
from support.context import call_of, in_turn


@sub_agent
async def Calculator(  # noqa: N802  (sub-agents are named like classes)
    context: AgentContext, call: StepCall, *, digits: int = 3, mode: Literal["up", "down"] = "up"
) -> str | StepOutcome:
    """Computes what the sub-task asks for
    and rounds it.

    Sums that must be exact.

    Args:
        digits: Digits after the point.
        mode: Direction of rounding.
    """
    return f"{call.task}: {digits} {mode}"


def test_the_card_comes_from_signature_and_docstring():
    card = Calculator.card

    assert card.name == "Calculator"
    assert card.summary == "Computes what the sub-task asks for and rounds it."
    assert card.good_at == "Sums that must be exact."
    assert card.cost == "1 call"
    properties = card.arguments.model_json_schema()["properties"]
    assert properties["digits"]["type"] == "integer"
    assert properties["digits"]["description"] == "Digits after the point."
    assert properties["mode"]["enum"] == ["up", "down"]


async def test_arguments_reach_the_function_checked_and_with_defaults():
    arguments = Calculator.card.arguments(digits=2)

    outcome = await Calculator.run(call_of(task="1/3", arguments=arguments), in_turn())

    assert outcome == StepOutcome(answer="1/3: 2 up")


@pytest.mark.parametrize("wrong", [{"digits": "many"}, {"mode": "sideways"}, {"unknown": 1}])
def test_arguments_that_the_signature_does_not_allow_are_refused(wrong):
    with pytest.raises(ValidationError):
        Calculator.card.arguments(**wrong)


async def test_details_of_the_outcome_and_what_the_card_is_told_are_kept():
    @sub_agent(name="Twice", good_at="Testing.", max_calls=2, aliases=("double",))
    async def anything(context: AgentContext, call: StepCall) -> StepOutcome:
        """Answers with details."""
        return StepOutcome(answer="4", details={"seen": call.question})

    outcome = await anything.run(call_of("2+2"), in_turn())

    assert outcome.details == {"seen": "2+2"}
    assert (anything.card.name, anything.card.good_at, anything.card.cost) == ("Twice", "Testing.", "2 calls")
    assert anything.card.max_calls(anything.card.arguments()) == 2


def test_a_sub_agent_without_calls_says_so():
    @sub_agent(max_calls=0)
    async def Free(context: AgentContext, call: StepCall) -> str:  # noqa: N802  (sub-agents are named like classes)
        """Costs nothing."""
        return "free"

    assert Free.card.cost == "no calls"
    assert Free.card.good_at == "Costs nothing."


@pytest.mark.parametrize(("returned", "code"), [("  ", "empty_reply"), (4, "bad_outcome"), (None, "bad_outcome")])
async def test_what_is_no_answer_fails_the_step(returned, code):
    @sub_agent
    async def broken(context: AgentContext, call: StepCall) -> str:
        """Returns something else."""
        return returned

    with pytest.raises(StepError, match="broken") as caught:
        await broken.run(call_of(), in_turn())

    assert caught.value.code == code


async def untyped(context: AgentContext, call: StepCall, *, digits=3) -> str:
    """Has a parameter without a type."""
    return ""


async def anything_goes(context: AgentContext, call: StepCall, **rest: int) -> str:
    """Takes anything."""
    return ""


async def without_call(context: AgentContext) -> str:
    """Takes no call."""
    return ""


async def undocumented(context: AgentContext, call: StepCall) -> str:
    return ""


async def unknown_type(context: AgentContext, call: StepCall, *, when: "Moment") -> str:  # noqa: F821  (the point)
    """Names a type that is not there."""
    return ""


async def private(context: AgentContext, call: StepCall, *, _hidden: int = 1) -> str:
    """Has a private parameter."""
    return ""


class Opaque:
    """No pydantic schema."""


async def opaque_type(context: AgentContext, call: StepCall, *, thing: Opaque) -> str:
    """Has a type without a schema."""
    return ""


def not_async(context: AgentContext, call: StepCall) -> str:
    """Is no coroutine."""
    return ""


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (untyped, "sub-agent untyped: parameter 'digits' has no type.*write for example 'digits: int = 3'"),
        (anything_goes, r"anything_goes: parameter '\*\*rest: int' has no name of its own"),
        (without_call, r"without_call must take \(context: AgentContext, call: StepCall"),
        (undocumented, "undocumented has no docstring"),
        (unknown_type, "unknown_type: a type .* 'Moment' is not defined"),
        (private, "private: parameter '_hidden' begins with '_'"),
        (opaque_type, "opaque_type: its arguments have no JSON schema"),
        (not_async, "not_async must be a function written with 'async def'"),
    ],
)
def test_a_function_that_cannot_be_a_sub_agent_says_what_to_change(function, message):
    with pytest.raises(ConfigError, match=message):
        sub_agent(function)


def test_a_word_of_the_plan_language_is_refused_as_an_argument():
    @sub_agent
    async def clash(context: AgentContext, call: StepCall, *, input: str) -> str:  # noqa: A002  (the point)
        """Takes the input again."""
        return ""

    with pytest.raises(ConfigError, match="'input' is a word of the plan language"):
        Registry([clash])
