"""Prompts of the built-in sub-agents, and others, are taken for what they are."""

import pytest

from mas_orchestra.agents.ask import ANSWER_FIELDS
from mas_orchestra.agents.prompting import with_reminder
from mas_orchestra.models.base import Params
from mas_orchestra.simulate.prompt import Form, Part, read_prompt
from mas_orchestra.types import Message, ResponseSchema, Role
from support.simulated import CHAIN, asked

OPINIONS = [{"role": "A", "text": "I think", "answer": "7"}, {"role": "B", "text": None}]


def read(messages, **params):
    return read_prompt(messages, Params(**params))


@pytest.mark.parametrize("task", ["", "Solve Problem 2.", "Use this:\n\nProblem 1: \\boxed{7}\n\nSolve the rest."])
@pytest.mark.parametrize(
    ("template", "values", "part"),
    [
        ("cot", {}, Part.SOLVER),
        ("debate", {"role": "Sceptic", "own": None, "others": []}, Part.DEBATER),
        ("debate", {"role": "Sceptic", "own": "mine", "others": [{"role": "X", "text": "yours"}]}, Part.DEBATER),
        ("debate", {"role": "Sceptic", "own": None, "others": [{"role": "X", "text": None}]}, Part.DEBATER),
        ("debate_judge", {"opinions": OPINIONS}, Part.JUDGE),
        ("debate_judge", {"opinions": OPINIONS[::-1]}, Part.JUDGE),
        ("critic", {"thinking": "steps", "answer": "7"}, Part.CRITIC),
        ("reflexion", {"attempts": [{"thinking": "t", "answer": "7", "feedback": "f"}]}, Part.SOLVER),
        ("search", {"iterations": 5, "tool_calls": 5}, Part.SOLVER),
        ("search_final", {"findings": ["x"], "failures": 0}, Part.SOLVER),
    ],
)
def test_every_prompt_of_ours_is_read(template, values, part, task):
    found = read(asked(CHAIN, task, template, **values))

    assert (found.part, found.text, found.task) == (part, CHAIN, task)
    assert found.form is Form.JSON


def test_a_debater_is_shown_its_own_thought_and_those_of_others():
    others = [{"role": "X", "text": "yours"}, {"role": "Y", "text": "hers"}, {"role": "Z", "text": None}]
    found = read(asked(CHAIN, "", "debate", role="R", own="mine", others=others))

    assert (found.own.strip(), [text.strip() for text in found.opinions]) == ("mine", ["yours", "hers"])


def test_a_critic_is_shown_the_attempt_and_a_judge_the_opinions():
    critic = read(asked(CHAIN, "", "critic", thinking="steps", answer="7"))
    judge = read(asked(CHAIN, "", "debate_judge", opinions=OPINIONS))

    assert critic.own.strip() == "steps\n\nAnswer: 7"
    assert [text.strip() for text in judge.opinions] == ["I think\n\nAnswer: 7"]


def test_a_reminder_is_no_part_of_the_question_and_may_ask_to_be_brief():
    cut = read(with_reminder(asked(CHAIN), ANSWER_FIELDS.fields, fault="truncated_reply"))
    malformed = read(with_reminder(asked(CHAIN, "Solve Problem 1."), ANSWER_FIELDS.fields, fault="unreadable_reply"))

    assert (cut.is_brief, cut.text) == (True, CHAIN)
    assert (malformed.is_brief, malformed.task) == (False, "Solve Problem 1.")


@pytest.mark.parametrize(
    ("content", "text", "task"),
    [
        (CHAIN, CHAIN, ""),
        (f"Original task: {CHAIN}\n\nCurrent Sub-task: Solve Problem 1.", CHAIN, "Solve Problem 1."),
        (f"Please help.\n\n{CHAIN}", f"Please help.\n\n{CHAIN}", ""),
    ],
)
def test_plain_prompts_are_read_too(content, text, task):
    found = read((Message(role=Role.USER, content=content),))

    assert (found.part, found.form, found.text, found.task) == (Part.SOLVER, Form.PLAIN, text, task)


def test_the_form_asked_for_is_seen():
    tags = (Message(role=Role.SYSTEM, content="Reply in <answer> tags."), Message(role=Role.USER, content=CHAIN))

    assert read(tags).form is Form.TAGS
    assert read(asked(CHAIN)).form is Form.JSON


def test_a_planner_is_known_by_its_schema_or_its_instructions():
    schema = ResponseSchema(name="plan", schema={})
    told = (Message(role=Role.SYSTEM, content="You are an orchestrator. …"), Message(role=Role.USER, content="Q"))

    assert read(told).part is Part.PLANNER
    assert read(told[1:], response_schema=schema).part is Part.PLANNER


def test_an_empty_conversation_asks_nothing():
    assert read(()).text == ""


@pytest.mark.parametrize("mark", ["<opinion>", "</opinion>", "\n\nOpinion of ", "\n\nTask:\n", "<own></own>"])
def test_hostile_prompts_are_read_in_time(mark):
    system = Message(role=Role.SYSTEM, content="You are the judge of a debate.")
    found = read((system, Message(role=Role.USER, content=f"Task:\n{CHAIN}{mark * 50_000}")))

    assert found.part is Part.JUDGE
