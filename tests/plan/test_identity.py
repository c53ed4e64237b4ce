"""Every valid plan is read back from each wire format exactly as it was, whatever stands in its fields."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mas_orchestra.plan import Edge, Plan, Step, check, read, render
from strategies import hostile_text, model_texts, plans
from support.cards import CARDS

FORMATS = ("xml", "tools", "json")


@pytest.mark.parametrize("wire", FORMATS)
@given(plan=plans())
def test_any_valid_plan_comes_back(wire, plan):
    assert check(plan, catalog=CARDS).plan == plan

    report = read(render(plan, wire, CARDS), catalog=CARDS)

    assert report.faults == ()
    assert report.plan == plan
    assert report.format == wire


@pytest.mark.parametrize("wire", FORMATS)
@given(
    plan=plans(),
    prose=st.sampled_from(["Here is the plan:\n\n", "```json\n", "<think>a draft {}</think>\n", "{x : x>0} "]),
)
def test_prose_fences_and_reasoning_around_a_plan_are_harmless(wire, plan, prose):
    report = read(prose + render(plan, wire, CARDS) + "\n```\nThat is all.", catalog=CARDS)

    assert report.faults == ()
    expected = plan if plan.thinking or "think" not in prose else plan.model_copy(update={"thinking": "a draft {}"})
    assert report.plan == expected


@pytest.mark.parametrize("wire", FORMATS)
@given(answer=hostile_text().filter(str.strip), thinking=hostile_text())
def test_any_direct_answer_comes_back(wire, answer, thinking):
    plan = Plan(thinking=thinking, answer=answer)

    report = read(render(plan, wire, CARDS), dom="low", catalog=CARDS)

    assert report.plan == plan


@given(plan=plans())
def test_a_lenient_reader_leaves_a_valid_plan_alone(plan):
    report = read(render(plan, "json", CARDS), mode="lenient", catalog=CARDS)

    assert report.plan == plan
    assert report.warnings == ()


@given(text=model_texts())
@settings(max_examples=400)
def test_no_text_raises_and_every_place_is_inside_it(text):
    lines = text.split("\n")
    for mode in ("strict", "lenient"):
        report = read(text, mode=mode, catalog=CARDS, auto_join=True)

        assert report.valid == (not report.faults)
        for fault in (*report.faults, *report.warnings):
            assert fault.message
            if fault.line is not None:
                assert 1 <= fault.line <= len(lines)
                assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1


@given(text=model_texts())
def test_what_lenient_mode_repairs_is_strictly_valid(text):
    report = read(text, mode="lenient", catalog=CARDS)

    if report.plan is not None:
        again = check(report.plan, catalog=CARDS)
        assert {fault.code for fault in again.faults} <= {"unknown_reference"}


def test_edges_are_in_plan_order_without_repeats():
    plan = Plan(
        steps=tuple(
            Step(id=name, agent="CoTAgent", input=text)
            for name, text in [("a", "x"), ("b", "${a}"), ("c", "${b} ${a}")]
        ),
        edges=(Edge("b", "c"), Edge("a", "c"), Edge("a", "b"), Edge("b", "c")),
    )

    assert plan.edges == (("a", "b"), ("a", "c"), ("b", "c"))
    for wire in FORMATS:
        assert read(render(plan, wire, CARDS), catalog=CARDS).plan == plan
