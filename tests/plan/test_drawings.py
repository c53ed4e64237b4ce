"""Mermaid and SVG: every text is only text, every step and edge is there."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings

from mas_orchestra.errors import InvalidPlanError
from mas_orchestra.plan import Edge, Plan, Step, render
from mas_orchestra.plan.graph import Graph
from mas_orchestra.plan.layout import layout
from strategies import plans
from support.cards import CARDS

SVG = "{http://www.w3.org/2000/svg}"
ALLOWED = {f"{SVG}{name}" for name in ("svg", "defs", "marker", "path", "rect", "g", "title", "text")}
DIAMOND = Plan(
    steps=(
        Step(id="a", agent="WebSearchAgent", description="Finds"),
        Step(id="b", agent="CoTAgent", input="${a}"),
        Step(id="c", agent="SCAgent", input="${a}"),
        Step(id="d", agent="CoTAgent", input="${b} ${c} ${a}"),
    ),
    edges=(Edge("a", "b"), Edge("a", "c"), Edge("b", "d"), Edge("c", "d"), Edge("a", "d")),
)


@given(plan=plans())
@settings(max_examples=60)
def test_an_svg_is_well_formed_and_has_nothing_that_runs(plan):
    root = ET.fromstring(render(plan, "svg"))

    assert {element.tag for element in root.iter()} <= ALLOWED
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name or name == "style" for name in attributes)
    assert len(root.findall(f"{SVG}g")) == len(plan.steps)
    assert len(root.findall(f"{SVG}path")) == len(plan.edges)


@given(plan=plans())
@settings(max_examples=60)
def test_a_flowchart_holds_no_character_of_the_plan_that_means_anything(plan):
    head, *lines = render(plan, "mermaid").splitlines()

    assert head == "flowchart TD"
    nodes = lines[: len(plan.steps)]
    assert all(
        re.fullmatch(r'  s\d+\["<b>[\w .,;?!+*/=()#-]*</b>(<br/>[\w .,;?!+*/=()#-]*){1,2}"\]', line, re.ASCII)
        for line in nodes
    )
    assert all(re.fullmatch(r"  s\d+ --> s\d+", line) for line in lines[len(plan.steps) :])
    assert len(lines) == len(plan.steps) + len(plan.edges)


def test_a_flowchart():
    assert render(DIAMOND, "mermaid").splitlines() == [
        "flowchart TD",
        '  s1["<b>a</b><br/>WebSearchAgent<br/>Finds"]',
        '  s2["<b>b</b><br/>CoTAgent"]',
        '  s3["<b>c</b><br/>SCAgent"]',
        '  s4["<b>d</b><br/>CoTAgent"]',
        "  s1 --> s2",
        "  s1 --> s3",
        "  s1 --> s4",
        "  s2 --> s4",
        "  s3 --> s4",
    ]


@pytest.mark.parametrize("to", ["svg", "mermaid"])
def test_direct_answers_and_invalid_plans_are_drawn_too(to):
    ring = Plan(
        steps=(Step(id="a", agent="X", input="${b}"), Step(id="b", agent="X", input="${a}")),
        edges=(Edge("a", "b"), Edge("b", "a"), Edge("a", "a"), Edge("a", "nobody")),
    )

    assert "42" in render(Plan(answer="42"), to)
    assert ">a<" in render(ring, to)


def test_no_two_boxes_overlap_and_edges_point_down():
    graph = Graph(4, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)])
    placed = layout(4, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)], graph.shape().levels)

    assert placed.rows == 3
    assert abs(placed.columns[1] - placed.columns[2]) >= 1
    for route in placed.routes:
        rows = [row for row, _ in route]
        assert rows == list(range(rows[0], rows[-1] + 1))


@given(plan=plans(max_steps=9))
@settings(max_examples=60)
def test_boxes_of_one_row_stand_side_by_side(plan):
    numbers = {step.id: number for number, step in enumerate(plan.steps)}
    edges = [(numbers[a], numbers[b]) for a, b in plan.edges]
    placed = layout(len(numbers), edges, Graph(len(numbers), edges).shape().levels)

    for row in range(placed.rows):
        columns = sorted(placed.columns[node] for node in range(len(numbers)) if placed.levels[node] == row)
        assert all(right - left > 0.999 for left, right in pairwise(columns))
        assert columns[0] > -0.001
        assert columns[-1] + 1 < placed.width + 0.001


def test_the_tools_format_cannot_say_an_edge_without_a_reference():
    plan = Plan(steps=(Step(id="a", agent="CoTAgent"), Step(id="b", agent="CoTAgent")), edges=(Edge("a", "b"),))

    with pytest.raises(InvalidPlanError, match=r"\$\{a\} in the input of 'b'"):
        render(plan, "tools", CARDS)


def test_an_unknown_format_is_the_callers_fault():
    with pytest.raises(ValueError, match="png"):
        render(DIAMOND, "png")
