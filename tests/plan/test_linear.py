"""Reading costs no more than in proportion to the text, whatever the text.

No clock: the interpreter counts the lines that it runs inside the package, for a text and for one twice as long.
Regular expressions run outside that count; a long text shows that none of them backtracks.
"""

import sys
from pathlib import Path

import pytest

import mas_orchestra.plan
from mas_orchestra.plan import read
from plan.plan_text import agent, edge, json_plan
from support.cards import CARDS

HOSTILE = {
    "agents": "<agent>",
    "empty agents": "<agent></agent>",
    "open inputs": "<agent><agent_input>",
    "closed inputs": "</agent_input>",
    "sources": "<edge><from>",
    "edges": "<edge><from>a</from><to>b</to></edge>",
    "ends": "</think>",
    "begins": "<think>",
    "answers": "<answer>a",
    "braces": "{",
    "objects": '{"a":',
    "broken objects": '{"a":x',
    "quotes": '{"',
    "single quotes": "{'",
    "lists": '[{"',
    "steps": '{"steps":[',
    "references": "${",
    "harmony": "<|start|><|message|>",
    "blanks": " ",
    "lines": "\n",
    "ampersands": "&lt;&",
    "doubled": "CoTAgent",
}
WRAPPERS = (
    "{}",
    "<edge>{}",
    "<agent><required_arguments><agent_input>{}",
    '{{"steps":[{{"id":"{}',
    "<think>{}</think>",
)


def lines_run(text):
    """Lines of the package that reading `text` runs."""
    count = 0
    package = str(Path(mas_orchestra.plan.__file__).parent)

    def trace(frame, event, argument):
        nonlocal count
        if not frame.f_code.co_filename.startswith(package):
            return None
        count += event == "line"
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        read(text, mode="lenient", catalog=CARDS, max_steps=100_000, auto_join=True)
    finally:
        sys.settrace(previous)
    return count


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_twice_the_text_is_at_most_twice_the_work(piece, wrapper):
    once, twice = (lines_run(wrapper.format(piece * count)) for count in (80, 160))

    assert twice <= 2.3 * once + 200


def chain(size):
    steps = "".join(agent(f"s{n}", f"${{s{n - 1}}}" if n else "x") for n in range(size))
    return steps + edge(*((f"s{n - 1}", f"s{n}") for n in range(1, size)))


def test_twice_the_steps_is_twice_the_work():
    once, twice = lines_run(chain(40)), lines_run(chain(80))

    assert twice <= 2.1 * once


@pytest.mark.parametrize(
    "text",
    [
        "<edge>" + "<from>s1</from><to>zz</to>" * 600 + "</edge>" + chain(60),
        "".join(agent("same", "x") for _ in range(300)),
        "".join(agent("", "${nobody}") for _ in range(300)),
        "".join(agent(f"s{n}", "x", kind=f"Wizrad{n}") for n in range(300)),
        agent("a", "x", kind="CoT" * 20_000),
    ],
)
def test_a_fault_in_every_line_costs_no_more(text):
    assert lines_run(text) < 60 * len(text.split("<")) + 5000


def test_tags_in_the_strings_of_a_json_plan_are_not_counted():
    text = json_plan({"a": "<agent>" * 60_000})

    assert read(text, catalog=CARDS, max_steps=1).valid
    assert "plan_too_large" in [fault.code for fault in read("<agent> " * 60_000, catalog=CARDS).faults]


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_a_long_hostile_text_ends_within_the_tests_own_limit(piece, wrapper):
    """A regular expression that backtracks would take minutes here, as it would hours on a megabyte."""
    report = read(wrapper.format(piece * (200_000 // len(piece))), mode="lenient", catalog=CARDS, auto_join=True)

    assert report.plan is None or report.valid
