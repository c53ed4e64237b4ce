"""The simplest sub-agent, and what all prompts have in common."""

import pytest

from mas_orchestra.agents import CoTAgent
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.types import Role
from support.context import call_of, in_turn, says


async def test_one_call_gives_answer_and_thinking():
    context = in_turn(says("42", "6*7"))

    outcome = await CoTAgent().run(call_of(), context)

    assert (outcome.answer, outcome.thinking) == ("42", "6*7")
    assert context.purposes == ["solve"]
    assert context.warnings == []


async def test_sampling_has_the_papers_temperature_and_the_options():
    context = in_turn(says("42"), says("42"))

    await CoTAgent().run(call_of(), context)
    await CoTAgent(temperature=0, max_tokens=64).run(call_of(), context)

    assert [(call.params.temperature, call.params.max_tokens) for call in context.calls] == [(0.5, None), (0.0, 64)]
    assert context.calls[0].params.response_schema.schema["required"] == ["thinking", "answer"]


async def test_without_a_sub_task_the_question_itself_is_the_task():
    context = in_turn(says("42"))

    await CoTAgent().run(call_of("What is\n  6 times 7?"), context)

    system, user = context.calls[0].messages
    assert (system.role, user.role) == (Role.SYSTEM, Role.USER)
    assert user.content.startswith("Task:\nWhat is\n  6 times 7?\n")
    assert "sub-task" not in user.content


async def test_with_a_sub_task_the_question_is_context():
    context = in_turn(says("6"))

    await CoTAgent().run(call_of("What is 6 times 7?", "Name the first factor."), context)

    assert context.calls[0].prompt.startswith(
        "Original task, for context:\nWhat is 6 times 7?\n\n"
        "Your sub-task, the only thing to answer now:\nName the first factor.\n"
    )


@pytest.mark.parametrize(
    "text", ["{{ 7 * 7 }}", "{% raw %}", "{# gone #}", "${a} \\frac{1}{2} <b>&amp;</b>", "{'a': 1}", "tail  "]
)
@pytest.mark.parametrize("name", ["cot", "search"])
def test_questions_are_data_and_never_templates(text, name):
    _, user = prompt(name, call_of(text, f"about {text}"), iterations=5, tool_calls=5)

    assert f"\n{text}\n" in user.content
    assert f"\nabout {text}\n" in user.content


def test_prompts_are_the_same_bytes_every_time():
    assert prompt("cot", call_of("q", "t")) == prompt("cot", call_of("q", "t"))


def test_a_value_that_a_prompt_needs_may_not_be_left_out():
    with pytest.raises(Exception, match="'role' is undefined"):
        prompt("debate", call_of())


async def test_the_prompt_is_short_enough_for_a_small_window():
    context = in_turn(says("42"))

    await CoTAgent().run(call_of("q"), context)

    assert sum(len(message.content) for message in context.calls[0].messages) < 700
