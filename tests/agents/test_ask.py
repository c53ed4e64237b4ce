"""Asking again within bounds, and never passing on what is no answer."""

import pytest

from mas_orchestra.agents.ask import ANSWER_FIELDS, ask, ask_any
from mas_orchestra.errors import BudgetError, ServerError, StepError
from mas_orchestra.models.base import Choice, FinishReason, Params
from mas_orchestra.types import Message, Role
from support.context import cut, in_turn, says, tools

SAID = (Message(role=Role.SYSTEM, content="You are."), Message(role=Role.USER, content="Say."))
EMPTY = [
    "",
    "   \n",
    Choice(content="", reasoning="So final: 42"),
    tools(("lookup", "{}")),
    "<think>So final: 42</think>",
]


async def asked(context, *, format_retries=5):
    return await ask(context, SAID, Params(), asked=ANSWER_FIELDS, purpose="solve", format_retries=format_retries)


@pytest.mark.parametrize("empty", EMPTY)
async def test_an_empty_reply_is_asked_for_once_more(empty):
    context = in_turn(empty, says("42"))

    assert (await asked(context)).answer == "42"
    assert context.purposes == ["solve", "solve, again"]
    assert context.calls[0].messages == context.calls[1].messages == SAID
    assert context.warned == ["empty_reply"]


@pytest.mark.parametrize("empty", EMPTY)
async def test_a_second_empty_reply_fails_the_step(empty):
    context = in_turn(empty, empty)

    with pytest.raises(StepError) as caught:
        await asked(context)

    assert caught.value.code == "empty_reply"
    assert len(context.calls) == 2


async def test_an_unreadable_reply_is_asked_for_again_with_a_reminder():
    context = in_turn("Well.\nLet me see.", "Hm.\nStill not.", says("42"))

    assert (await asked(context)).answer == "42"
    assert context.calls[0].messages == SAID
    for call in context.calls[1:]:
        assert call.messages[0] == SAID[0]
        assert call.prompt.startswith("Say.\n\nYour last reply was not in the form asked for.")
        assert '{"thinking": "…", "answer": "…"}' in call.prompt


@pytest.mark.parametrize("retries", [0, 1, 5])
async def test_unreadable_replies_are_bounded(retries):
    context = in_turn(*["Well.\nLet me see."] * (retries + 1))

    with pytest.raises(StepError, match="Well") as caught:
        await asked(context, format_retries=retries)

    assert caught.value.code == "unreadable_reply"
    assert len(context.calls) == retries + 1


async def test_a_reply_cut_off_before_its_answer_is_asked_for_without_thinking():
    context = in_turn(cut("<thinking>on and on"), '{"answer": "42"}')

    assert (await asked(context)).answer == "42"
    assert 'exactly one JSON object, with no text before or after it: {"answer": "…"}' in context.calls[1].prompt
    assert context.calls[1].params.response_schema.schema["required"] == ["answer"]
    assert context.calls[0].params.response_schema.schema["required"] == ["thinking", "answer"]


async def test_replies_that_are_always_cut_off_fail_with_the_remedy():
    context = in_turn(*[cut("<thinking>on and on")] * 3)

    with pytest.raises(StepError, match="max_tokens") as caught:
        await asked(context, format_retries=2)

    assert caught.value.code == "truncated_reply"


async def test_an_answer_that_was_closed_before_the_cut_is_used_with_a_warning():
    context = in_turn(cut(says("42") + " and so"))

    assert (await asked(context)).answer == "42"
    assert context.warned == ["truncated_reply"]


async def test_a_withheld_reply_is_no_answer():
    withheld = Choice(content=says("half"), finish_reason=FinishReason.CONTENT_FILTER)

    with pytest.raises(StepError) as caught:
        await asked(in_turn(withheld, withheld))

    assert caught.value.code == "filtered_reply"


async def test_empty_and_unreadable_replies_have_allowances_of_their_own():
    context = in_turn("", "Well.\nHm.", "Well.\nHm.", says("42"))

    assert (await asked(context, format_retries=2)).answer == "42"


@pytest.mark.parametrize("error", [ServerError("down"), BudgetError("calls", "spent")])
async def test_broken_services_and_spent_budgets_pass_untouched(error):
    with pytest.raises(type(error)) as caught:
        await asked(in_turn(error))

    assert caught.value is error


async def test_of_several_samples_one_that_can_be_read_is_enough():
    context = in_turn("", says("1"), "Well.\nHm.", says("2"))

    sampled = await ask_any(context, SAID, Params(n=4), asked=ANSWER_FIELDS, purpose="samples", format_retries=5)

    assert [reply.answer for reply in sampled.replies] == ["1", "2"]
    assert [fault.code for fault in sampled.unusable] == ["empty_reply", "unreadable_reply"]
    assert len(context.calls) == 1
