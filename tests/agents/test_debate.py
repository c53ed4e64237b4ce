"""Debate: rounds of concurrent speakers who read each other, missing ones shown as missing, a judge."""

import asyncio
import itertools

import pytest
from pydantic import ValidationError

from mas_orchestra.agents import DebateAgent
from mas_orchestra.agents.debate import DebateArguments
from mas_orchestra.errors import BudgetError, CallError, ServerError, StepError
from mas_orchestra.types import Role
from support.context import RecordingContext, call_of, says


def debate_call(*roles: str):
    return call_of(arguments=DebateArguments(roles=roles))


def speaks(**special):
    """Every speech says who speaks and in which round; `special` maps a purpose with ``_`` for blanks to a reply."""

    def reply(purpose: str, prompt: str) -> str:
        found = special.get(purpose.removesuffix(", again").replace(" ", "_").replace(":", ""))
        if isinstance(found, Exception):
            raise found
        return says(f"answer of {purpose}", f"thought of {purpose}") if found is None else found

    return reply


def prompts_of(context, start: str) -> dict[str, str]:
    return {call.purpose: call.prompt for call in context.calls if call.purpose.startswith(start)}


async def test_every_role_speaks_in_every_round_and_then_the_judge():
    context = RecordingContext(reply=speaks())

    outcome = await DebateAgent().run(debate_call("Ann", "Bob"), context)

    rounds = [f"round {number}: {role}" for number in range(1, 6) for role in ("Ann", "Bob")]
    assert context.purposes == [*rounds, "judge"]
    assert outcome.answer == "answer of judge"
    assert outcome.thinking == "thought of judge"
    assert outcome.details == {
        "roles": ["Ann", "Bob"],
        "rounds": 5,
        "missing": [],
        "consensus": False,
        "first_round_unanimous": False,
    }


async def test_each_speaks_in_its_role():
    context = RecordingContext(reply=speaks())

    await DebateAgent(rounds=1).run(debate_call("Statistician", "B"), context)

    for call, role in zip(context.calls, ("Statistician", "B"), strict=False):
        assert call.messages[0].role is Role.SYSTEM
        assert call.messages[0].content.startswith(f"You take part in a debate. Your role: {role}.\n")


async def test_later_rounds_show_the_own_and_the_others_thoughts_of_the_round_before_only():
    context = RecordingContext(reply=speaks())

    await DebateAgent(rounds=3).run(debate_call("Ann", "Bob", "Cy"), context)

    assert "thought of" not in prompts_of(context, "round 1")["round 1: Bob"]
    third = prompts_of(context, "round 3")["round 3: Bob"]
    assert "<own>\nthought of round 2: Bob\n</own>" in third
    assert "What Ann thought in the last round:\n<opinion>\nthought of round 2: Ann\n</opinion>" in third
    assert "What Cy thought" in third
    assert "What Bob thought in" not in third
    assert "round 1" not in third


async def test_the_judge_sees_thoughts_and_answers_of_the_last_round():
    context = RecordingContext(reply=speaks())

    await DebateAgent(rounds=2).run(debate_call("Ann", "Bob"), context)

    judge = context.calls[-1].prompt
    for role in ("Ann", "Bob"):
        assert f"thought of round 2: {role}\n\nAnswer: answer of round 2: {role}\n</opinion>" in judge
    assert "round 1" not in judge


async def test_a_debater_without_thinking_is_quoted_with_its_answer():
    context = RecordingContext(reply=speaks(round_1_Ann="just 42"))

    await DebateAgent(rounds=2).run(debate_call("Ann", "Bob"), context)

    assert "<own>\njust 42\n</own>" in prompts_of(context, "round 2")["round 2: Ann"]


@pytest.mark.parametrize("order", list(itertools.permutations(["Ann", "Bob", "Cy"])))
async def test_prompts_do_not_depend_on_who_finishes_first(order):
    """All speakers of a round are in flight together and are let go one after the other in the given order."""
    done = {name: asyncio.Event() for name in order}

    async def wait_for_turn(purpose: str) -> None:
        number, _, role = purpose.partition(": ")
        if number == "round 1":
            place = order.index(role)
            if place:
                await done[order[place - 1]].wait()
            done[role].set()

    context = RecordingContext(reply=speaks(), before=wait_for_turn)
    plain = RecordingContext(reply=speaks())
    await DebateAgent(rounds=2).run(debate_call("Ann", "Bob", "Cy"), context)
    await DebateAgent(rounds=2).run(debate_call("Ann", "Bob", "Cy"), plain)

    assert context.calls == plain.calls


async def test_a_missing_debater_is_shown_as_missing_and_takes_part_again():
    context = RecordingContext(reply=speaks(round_2_Bob=""))

    outcome = await DebateAgent(rounds=3).run(debate_call("Ann", "Bob", "Cy"), context)

    third = prompts_of(context, "round 3")
    assert "Bob gave no usable reply in the last round." in third["round 3: Ann"]
    assert "What Cy thought in the last round" in third["round 3: Ann"]
    assert "You gave no usable reply in the last round." in third["round 3: Bob"]
    assert "What Bob thought" not in "".join(third.values())
    assert outcome.details["missing"] == [{"round": 2, "role": "Bob", "reason": "empty_reply"}]
    assert "debater_missing" in context.warned


async def test_the_judge_is_told_who_is_missing():
    context = RecordingContext(reply=speaks(round_1_Bob=""))

    await DebateAgent(rounds=1).run(debate_call("Ann", "Bob"), context)

    assert "Bob gave no usable reply in the last round." in context.calls[-1].prompt
    assert "Opinion of Bob" not in context.calls[-1].prompt


async def test_a_round_without_any_reply_fails_the_step():
    context = RecordingContext(reply=speaks(round_2_Ann="", round_2_Bob=""))

    with pytest.raises(StepError, match=r"round 2 .*Ann: empty_reply, Bob: empty_reply") as caught:
        await DebateAgent().run(debate_call("Ann", "Bob"), context)

    assert caught.value.code == "debate_failed"


@pytest.mark.parametrize("error", [ServerError("down"), CallError("lost"), BudgetError("calls", "spent")])
async def test_a_broken_service_ends_the_debate_as_itself_and_its_siblings_are_awaited(error):
    ended = []

    async def others_wait(purpose: str) -> None:
        if "Ann" not in purpose:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(purpose)

    context = RecordingContext(reply=speaks(round_1_Ann=error), before=others_wait)

    with pytest.raises(type(error)) as caught:
        await DebateAgent().run(debate_call("Ann", "Bob", "Cy"), context)

    assert caught.value is error
    assert sorted(ended) == ["round 1: Bob", "round 1: Cy"]


async def test_consensus_ends_the_debate_when_asked_for():
    def reply(purpose: str, prompt: str) -> str:
        return says("0.5" if "Ann" in purpose else "1/2" if "round 2" in purpose else "7", "because")

    context = RecordingContext(reply=reply)

    outcome = await DebateAgent(stop_at_consensus=True).run(debate_call("Ann", "Bob"), context)

    assert outcome.answer == "0.5"
    assert len(context.calls) == 4
    assert outcome.details["consensus"] is True
    assert outcome.details["rounds"] == 2


async def test_a_missing_debater_prevents_consensus():
    context = RecordingContext(
        reply=lambda purpose, _: "" if purpose.removesuffix(", again") == "round 1: Bob" else says("7")
    )

    outcome = await DebateAgent(stop_at_consensus=True, rounds=2).run(debate_call("Ann", "Bob"), context)

    assert outcome.details["rounds"] == 2


async def test_long_thoughts_can_be_shortened_for_small_windows():
    context = RecordingContext(reply=lambda purpose, _: says("7", "x" * 5_000))

    await DebateAgent(rounds=2, quoted_chars=200).run(debate_call("Ann", "Bob"), context)

    assert max(len(call.prompt) for call in context.calls) < 2_000
    assert "[… 4800 characters left out …]" in context.calls[-1].prompt


async def test_two_debaters_of_one_role_can_be_told_apart():
    context = RecordingContext(reply=speaks())

    await DebateAgent(rounds=2).run(debate_call("Expert", "Expert"), context)

    assert "What Expert (2) thought in" in prompts_of(context, "round 2")["round 2: Expert (1)"]


@pytest.mark.parametrize("roles", [(), ("one",), ("a", "  "), ("r",) * 17])
def test_fewer_than_two_roles_or_empty_ones_are_refused(roles):
    with pytest.raises(ValidationError):
        DebateArguments(roles=roles)


def test_one_letter_roles_are_legal():
    assert DebateArguments(roles=["A", " B "]).roles == ("A", "B")


@pytest.mark.parametrize(("rounds", "roles", "calls"), [(5, 2, 11), (5, 3, 16), (1, 4, 5)])
def test_the_card_counts_rounds_times_roles_and_the_judge(rounds, roles, calls):
    card = DebateAgent(rounds=rounds).card

    assert card.max_calls(card.arguments(roles=["r"] * roles)) == calls
    assert card.argument_tags == {"debate_roles": "roles"}
