"""Solver, debater, judge and critic: what each says."""

import json
import statistics

import pytest

from mas_orchestra.agents.ask import ANSWER_FIELDS
from mas_orchestra.agents.prompting import with_reminder
from mas_orchestra.agents.reflexion import read_verdict
from mas_orchestra.agents.reply import read_reply
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.types import Message, Role
from support.simulated import CHAIN, SINGLE, asked, flawed

RIGHT = "Problem 1: \\boxed{7}\nProblem 2: \\boxed{14}"
WRONG = "Problem 1: \\boxed{7}\nProblem 2: \\boxed{15}"


def answers(messages, n=1, **flaws):
    choices = flawed(**flaws).reply(messages, Params(n=n)).choices
    return [read_reply(choice.content, cut_off=choice.finish_reason is FinishReason.LENGTH) for choice in choices]


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("", RIGHT),
        ("Solve Problem 2.", "Problem 2: \\boxed{14}"),
        ("How many Straw does Hay Stack have?", "14"),
        ("Find Red Barn's Hay Stack and Hay Stack's Straw.", "Red Barn's Hay Stack = 7\nHay Stack's Straw = 14"),
        ("Combine 7, 14.", RIGHT),
        ("Given Problem 1: 8, solve Problem 2.", "Problem 2: \\boxed{16}"),
    ],
)
def test_the_answer_has_the_form_that_the_task_asks_for(task, answer):
    (reply,) = answers(asked(CHAIN, task))

    assert reply.answer == answer
    assert reply.thinking.endswith(f"So the answer is: {answer}")


def test_one_question_gets_one_box():
    assert answers(asked(SINGLE))[0].answer == "\\boxed{14}"


def test_a_plain_prompt_gets_the_steps_and_one_box():
    reply = flawed().reply((Message(role=Role.USER, content=SINGLE),), Params()).content

    assert reply.splitlines()[-1] == "So the answer is: \\boxed{14}"
    assert reply.count("\\boxed") == 1


def test_tags_are_written_where_they_are_asked_for():
    system = Message(role=Role.SYSTEM, content="Use <thinking> and <answer>.")
    reply = flawed().reply((system, Message(role=Role.USER, content=SINGLE)), Params()).content

    assert reply.endswith("<answer>\\boxed{14}</answer>")


def test_a_cut_reply_ends_by_length_before_its_answer():
    choice = flawed(operation_budget=1).reply(asked(CHAIN), Params()).choices[0]

    assert choice.finish_reason is FinishReason.LENGTH
    assert read_reply(choice.content, cut_off=True) is None
    assert "boxed" not in choice.content


def test_asked_to_be_brief_it_gives_the_answer_alone():
    brief = with_reminder(asked(CHAIN), ANSWER_FIELDS.fields.only_wanted(), fault="truncated_reply")
    choice = flawed(operation_budget=1).reply(brief, Params()).choices[0]

    assert (json.loads(choice.content), choice.finish_reason) == ({"answer": RIGHT}, FinishReason.STOP)


def test_a_fault_of_form_cannot_be_read_and_is_as_frequent_as_it_says():
    assert set(answers(asked(CHAIN), n=50, format_error=1.0)) == {None}
    missed = [reply is None for reply in answers(asked(CHAIN), n=400, format_error=0.3)]
    assert 0.22 < statistics.mean(missed) < 0.38


def verdicts(answer, n=200, **flaws):
    messages = asked(CHAIN, "", "critic", thinking="steps", answer=answer)
    return [read_verdict(choice.content) for choice in flawed(**flaws).reply(messages, Params(n=n)).choices]


def test_a_critic_catches_errors_as_often_as_it_says():
    assert {verdict.correct for verdict in verdicts(RIGHT)} == {True}
    assert {verdict.correct for verdict in verdicts(WRONG)} == {False}
    caught = statistics.mean(not verdict.correct for verdict in verdicts(WRONG, n=400, catch=0.4))
    assert 0.3 < caught < 0.5
    alarmed = statistics.mean(not verdict.correct for verdict in verdicts(RIGHT, n=400, false_alarm=0.2))
    assert 0.12 < alarmed < 0.28


def test_a_critic_says_where_it_sees_the_error():
    assert {verdict.feedback for verdict in verdicts(WRONG)} == {
        "The value of Hay Stack's Straw does not follow from the statements."
    }


def test_an_attempt_without_an_answer_is_wrong():
    assert not verdicts("I do not know")[0].correct


def debate(own, *others, n=200, **flaws):
    thoughts = [{"role": f"Role {place}", "text": other} for place, other in enumerate(others)]
    messages = asked(CHAIN, "", "debate", role="R", own=own, others=thoughts)
    return [reply.answer for reply in answers(messages, n=n, **flaws)]


def thought(answer):
    return f"steps\nSo the answer is: {answer}"


def test_a_debater_joins_a_majority_as_often_as_it_says():
    joined = debate(thought(RIGHT), thought(WRONG), thought(WRONG), n=400, conformity=0.7, lookup=5)

    assert 0.6 < joined.count(WRONG) / 400 < 0.8


def test_debaters_who_agree_stay_so():
    assert set(debate(thought(WRONG), thought(WRONG), lookup=5)) == {WRONG}


def test_without_a_majority_a_debater_works_it_out_anew():
    assert set(debate(thought(WRONG), thought(RIGHT))) == {RIGHT}
    stubborn = debate(thought(RIGHT), thought(WRONG), lookup=5)
    assert stubborn.count(RIGHT) > 150


def test_a_debater_who_has_seen_nothing_usable_solves():
    messages = asked(CHAIN, "", "debate", role="R", own=None, others=[{"role": "X", "text": None}])

    assert answers(messages)[0].answer == RIGHT


def judged(*opinions, **flaws):
    shown = [{"role": f"R{place}", "text": "t", "answer": answer} for place, answer in enumerate(opinions)]
    return answers(asked(CHAIN, "", "debate_judge", opinions=shown), **flaws)[0].answer


def test_a_judge_follows_the_majority_and_decides_ties_by_its_own_work():
    assert judged(WRONG, WRONG, RIGHT, lookup=5) == WRONG
    assert judged(WRONG, RIGHT) == RIGHT
    assert judged("no idea", "none") == RIGHT


def test_a_check_keeps_what_is_right_and_mends_what_it_catches():
    keep = asked(CHAIN, "Verify Problem 1: 7 and Problem 2: 15.")

    assert answers(keep, catch=0.0)[0].answer == WRONG
    assert answers(keep, catch=1.0)[0].answer == RIGHT


def test_reflexion_solves_anew():
    attempts = [{"thinking": "t", "answer": WRONG, "feedback": "wrong"}]

    assert answers(asked(CHAIN, "", "reflexion", attempts=attempts))[0].answer == RIGHT
