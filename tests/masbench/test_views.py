"""Drawings, statistics and the gallery."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mas_orchestra.masbench.drawing import formula, mermaid, outline
from mas_orchestra.masbench.gallery import gallery
from mas_orchestra.masbench.generate import Recipe, generate
from mas_orchestra.masbench.load import BenchRow
from mas_orchestra.masbench.problem import AttackKind, Axis, Form, Modifier, Operator, Parameters, Split
from mas_orchestra.masbench.statistics import Histogram, count, draw_svg

PAGE = Path(__file__).parents[2] / "docs" / "gallery.md"
ATTACKED = generate(
    Recipe(
        axis=Axis.ROBUSTNESS,
        parameters=Parameters(d=4, b=2, n=5, T=9, h=2, r=1),
        split=Split.TEST,
        value=1,
        attack=AttackKind.NOTE,
    ),
    3,
)


def test_the_gallery_page_is_what_the_command_writes(request):
    if request.config.getoption("--update-golden"):
        PAGE.write_text(gallery(), encoding="utf-8")
    assert PAGE.read_text("utf-8") == gallery(), "run: mas bench gallery --out docs/gallery.md"


def test_the_gallery_shows_every_axis_and_attack_with_a_drawing():
    page = gallery()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    for word in ("Depth", "Breadth", "Horizon", "Parallel", *AttackKind, "needles", "totals", "paper"):
        assert any(word in title for title in titles)
    assert page.count("```mermaid\nflowchart LR\n") == len(titles)


def test_mermaid_has_a_node_a_quantity_and_an_arrow_an_edge():
    lines = mermaid(ATTACKED, distractors=True).splitlines()
    assert sum('["' in line for line in lines) == 9
    assert sum("->" in line for line in lines) == len(ATTACKED.graph.edges)
    needed = mermaid(ATTACKED).splitlines()
    assert sum('["' in line for line in needed) == 5
    assert not any("-.->" in line for line in needed)
    assert sum("[[" in line for line in needed) == 2, "asked quantities have a double frame"
    assert sum("⚠" in line for line in needed) == 1


def test_mermaid_lets_no_name_break_out_of_its_label():
    names = (('x"]; click', "<script>"), *ATTACKED.graph.quantities[1:])
    graph = ATTACKED.graph.model_copy(update={"quantities": names})
    drawn = mermaid(ATTACKED.model_copy(update={"graph": graph}))
    assert 'q0["x#quot;]; click · #lt;script>' in drawn


def test_the_outline_gives_every_needed_quantity_and_the_asked_answers():
    text = outline(ATTACKED)
    assert len(text.splitlines()) == 5
    assert text.count("→ asked: ") == 2
    assert text.endswith(f"→ asked: {ATTACKED.answers[-1]}")


@pytest.mark.parametrize(
    ("operator", "written"),
    [
        (Operator(form=Form.CONSTANT, constant=0), "0"),
        (Operator(form=Form.EQUAL), "a + b"),
        (Operator(form=Form.DIFFERENCE), "a − b"),
        (Operator(form=Form.TOTAL), "a + b"),
        (Operator(form=Form.SUM, modifier=Modifier.MORE, constant=3), "3 + a + b"),
        (Operator(form=Form.DIFFERENCE, modifier=Modifier.TIMES, constant=3), "3 × (a − b)"),
    ],
)
def test_formulas(operator, written):
    assert formula(operator, ["a", "b"]) == written


def rows():
    recipe = Recipe(axis=Axis.DEPTH, parameters=Parameters(d=3, b=2, n=4, T=8), split=Split.TRAIN, value=3)
    for index in range(23):
        problem = generate(recipe, index)
        yield BenchRow(
            id=problem.id,
            axis="depth",
            value=3,
            split="train",
            question=problem.question,
            answers=tuple(map(str, problem.answers)),
            problem=problem,
        )
    yield BenchRow(id="x", axis="robustness", value=None, split="", question="?", answers=("12", "2664863"))


def test_statistics_count_groups_answers_and_measured_sizes():
    statistics = count(rows())
    assert statistics.rows == {("depth", "3", "train"): 23, ("robustness", "-", "-"): 1}
    assert statistics.answers == dict.fromkeys(range(23), 1)
    assert statistics.others == 1
    document = statistics.document()
    assert document["rows"] == 24
    assert document["histograms"]["depth"] == {"3": 23}
    assert document["histograms"]["statements"] == {"8": 23}


def test_a_histogram_is_lines_of_bars_in_the_order_of_the_values():
    head, *bars = Histogram(name="depth", counts={2: 1, 10: 400}).lines()
    assert head == "depth"
    assert [bar.split()[0] for bar in bars] == ["2", "10"]
    assert [bar.count("█") for bar in bars] == [1, 40]


def test_the_figure_is_well_formed_and_escapes_names():
    picture = draw_svg([Histogram(name="<a> & b", counts={1: 2}), Histogram(name="empty", counts={})])
    root = ET.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["<a> & b", "1", "2", "empty"]
