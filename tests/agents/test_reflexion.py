"""Reflexion: stops only when clearly correct, remembers every attempt, keeps what it has."""

import json

import pytest

from mas_orchestra.agents import ReflexionAgent
from mas_orchestra.agents.reflexion import read_verdict
from mas_orchestra.errors import ServerError, StepError
from support.context import call_of, in_turn, says

WRONG = '{"feedback": "check the carry", "correct": false}'
RIGHT = '{"feedback": "fine", "correct": true}'


async def test_an_attempt_that_the_critic_accepts_is_the_answer():
    context = in_turn(says("42"), RIGHT)

    outcome = await ReflexionAgent().run(call_of(), context)

    assert outcome.answer == "42"
    assert context.purposes == ["attempt 1", "critic 1"]
    assert outcome.details == {"attempts": 1, "stopped": "correct"}


async def test_without_acceptance_there_are_as_many_calls_as_the_card_says():
    context = in_turn(says("0"), *[text for number in range(1, 6) for text in (WRONG, says(str(number)))])

    outcome = await ReflexionAgent().run(call_of(), context)

    assert outcome.answer == "5"
    assert len(context.calls) == 11
    assert ReflexionAgent().card.max_calls(ReflexionAgent().card.arguments()) == 11
    assert outcome.details == {"attempts": 6, "stopped": "rounds"}


async def test_a_new_attempt_sees_all_earlier_ones_with_their_criticism():
    other = '{"feedback": "read it again", "correct": false}'
    context = in_turn(says("1", "one"), WRONG, says("2", "two"), other, says("3"), RIGHT)

    await ReflexionAgent().run(call_of(), context)

    third = context.calls[4].prompt
    for text in ("one\n\nAnswer: 1", "check the carry", "two\n\nAnswer: 2", "read it again"):
        assert text in third
    assert third.index("Your attempt 1") < third.index("Your attempt 2")


async def test_the_critic_sees_reasoning_and_answer_of_the_attempt_at_hand_only():
    context = in_turn(says("1", "one"), WRONG, says("2", "two"), RIGHT)

    await ReflexionAgent().run(call_of(), context)

    assert "two\n\nAnswer: 2" in context.calls[3].prompt
    assert "one" not in context.calls[3].prompt.split("An attempt to solve it:")[1].split("</attempt>")[0]
    assert context.calls[3].params.response_schema.schema["properties"]["correct"] == {"type": "boolean"}


@pytest.mark.parametrize("word", ["true", "True", "TRUE.", '"true"', "**True**", " true\n"])
def test_clearly_true_is_correct(word):
    assert read_verdict(f"<feedback>f</feedback><correct>{word}</correct>").correct


@pytest.mark.parametrize("word", ["false", "yes", "true, I think", "not true", "maybe", "1", "true false", "likely"])
def test_everything_else_is_not(word):
    for text in (f"<feedback>f</feedback><correct>{word}</correct>", json.dumps({"feedback": "f", "correct": word})):
        assert not read_verdict(text).correct


def test_a_verdict_without_its_field_cannot_be_read():
    assert read_verdict("Looks good to me.") is None
    assert read_verdict('{"feedback": "x"}') is None
    assert read_verdict('{"feedback": "x", "correct": null}') is None
    assert read_verdict("<feedback>x</feedback><correct>tr", cut_off=True) is None


@pytest.mark.parametrize("rest", [["", ""], [WRONG, "", ""]], ids=["critic", "new attempt"])
async def test_without_a_further_reply_the_attempt_at_hand_is_the_answer(rest):
    context = in_turn(says("42"), *rest)

    outcome = await ReflexionAgent().run(call_of(), context)

    assert outcome.answer == "42"
    assert outcome.details["stopped"] == "failed"
    assert "reflexion_stopped" in context.warned


async def test_without_a_first_attempt_the_step_fails():
    with pytest.raises(StepError) as caught:
        await ReflexionAgent().run(call_of(), in_turn("", ""))

    assert caught.value.code == "empty_reply"


async def test_a_broken_service_is_not_taken_for_a_verdict():
    with pytest.raises(ServerError):
        await ReflexionAgent().run(call_of(), in_turn(says("42"), ServerError("down")))


async def test_long_reasoning_can_be_shortened_for_small_windows():
    context = in_turn(says("1", "x" * 5_000), WRONG, says("2", "y" * 5_000), RIGHT)

    await ReflexionAgent(quoted_chars=100).run(call_of(), context)

    assert max(len(call.prompt) for call in context.calls) < 2_000
