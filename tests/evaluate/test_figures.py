"""Figures: which are drawn, what they say, that names cannot break them, that nothing is drawn over another."""

import re
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest

from mas_orchestra.evaluate.diagnostics import diagnose
from mas_orchestra.evaluate.figure_style import drawable, looks, png, style, svg
from mas_orchestra.evaluate.figures import draw_figures
from mas_orchestra.evaluate.scoreboard import scoreboard
from strategies import FRAGMENTS
from support.results import DIAMOND, attempt, duel, info, run, study, task


def drawn(*results):
    board = scoreboard(results)
    return {one.name: one for one in draw_figures(board, [diagnose(row.entrant) for row in board.rows])}


@pytest.fixture(scope="module")
def figures():
    return drawn(study(per_value=4, k=2))


def texts(drawing):
    """All texts that are drawn: Matplotlib keeps labels of ticks outside the limits, and does not draw them."""
    from matplotlib.axes import Axes
    from matplotlib.text import Text

    axes = [axis for one in drawing.figure.findobj(Axes) for axis in (one.xaxis, one.yaxis)]
    kept = {id(tick.label1) for axis in axes for tick in (*axis.majorTicks, *axis.minorTicks)}
    hidden = kept - {id(tick.label1) for axis in axes for tick in axis._update_ticks()}
    found = drawing.figure.findobj(Text)
    return [text for text in found if text.get_visible() and text.get_text().strip() and id(text) not in hidden]


def place(drawing):
    """Lays the figure out, so that every text has its place."""
    with style():
        drawing.figure.draw_without_rendering()


def words(drawing):
    return [text.get_text() for text in texts(drawing)]


def test_a_study_with_axes_has_all_figures(figures) -> None:
    assert list(figures) == ["accuracy_cost", "axis_accuracy", "axis_gain", "verdicts", "plan_shapes"]


def test_every_title_says_simulated(figures) -> None:
    for drawing in figures.values():
        assert drawing.title.startswith("SIMULATED: ")
        assert drawing.title in words(drawing)


def test_no_title_says_so_of_real_models() -> None:
    for drawing in drawn(study(per_value=2, k=1, simulated=False)).values():
        assert "SIMULATED" not in "".join(words(drawing))


def test_every_axis_has_its_unit(figures) -> None:
    labels = {
        name: {axes.get_xlabel() for axes in one.figure.axes} | {axes.get_ylabel() for axes in one.figure.axes}
        for name, one in figures.items()
    }

    assert labels["accuracy_cost"] == {"mean cost of an attempt (US dollars, logarithmic)", "accuracy (%)"}
    assert labels["axis_accuracy"] == {"axis value", "accuracy (%)"}
    assert labels["axis_gain"] == {"axis value", "gain (percentage points)"}
    assert {"steps (%)", "plans (%)", "steps of a plan"} <= labels["plan_shapes"]


def test_accuracy_is_drawn_on_the_whole_scale_and_gains_on_one(figures) -> None:
    for name in ("accuracy_cost", "axis_accuracy"):
        assert all(axes.get_ylim() == (-2, 102) for axes in figures[name].figure.axes)
    assert len({axes.get_ylim() for axes in figures["axis_gain"].figure.axes}) == 1
    low, high = figures["axis_gain"].figure.axes[0].get_ylim()
    assert low < 0 < high


@pytest.mark.parametrize("name", ["accuracy_cost", "axis_accuracy", "axis_gain", "verdicts", "plan_shapes"])
def test_no_text_lies_over_another_or_outside(figures, name) -> None:
    drawing = figures[name]
    place(drawing)
    canvas = drawing.figure.bbox
    boxes = {text: text.get_window_extent().padded(-1) for text in texts(drawing)}

    assert len(boxes) > 5
    for text, box in boxes.items():
        assert canvas.x0 <= box.x0 <= box.x1 <= canvas.x1, text.get_text()
        assert canvas.y0 <= box.y0 <= box.y1 <= canvas.y1, text.get_text()
    for (first, one), (second, other) in combinations(boxes.items(), 2):
        assert not one.overlaps(other), f"{first.get_text()!r} over {second.get_text()!r}"


def test_all_systems_are_in_the_legend_with_looks_of_their_own(figures) -> None:
    from matplotlib.legend import Legend

    (legend,) = figures["accuracy_cost"].figure.findobj(Legend)
    board = scoreboard([study(per_value=2, k=1)])

    assert [text.get_text() for text in legend.get_texts()] == [row.entrant.shown for row in board.rows]
    kinds = looks([row.entrant for row in board.rows]).values()
    assert len({(look.colour, look.marker) for look in kinds}) == len(board.rows)
    assert [look.line for look in kinds] == ["--", "--", "-", "-", "-"]


def test_without_prices_tokens_stand_for_cost() -> None:
    results = duel([1.0, 0.0], [1.0, 1.0])
    free = replace(results, attempts=tuple(replace(one, cost_usd=0.0) for one in results.attempts))
    unknown = replace(results, attempts=tuple(replace(one, cost_usd=None) for one in results.attempts))

    for figures in (drawn(free), drawn(unknown)):
        assert figures["accuracy_cost"].title == "Accuracy against tokens"
        assert "known price" in figures["accuracy_cost"].caption
        assert figures["accuracy_cost"].figure.axes[0].get_xlabel() == "mean use of an attempt (tokens)"


def test_no_attempt_draws_nothing() -> None:
    assert not drawn(run([info("cot", single=True, reference=True)], [task("a")], []))


@pytest.mark.parametrize("scores", [[1.0], [0.0], [1.0, None], [1.0, 1.0]])
def test_degenerate_runs_are_drawn(scores) -> None:
    figures = drawn(duel(scores, scores))

    assert list(figures) == ["accuracy_cost"], "one verdict alone is no map"
    assert all(png(one).startswith(b"\x89PNG") for one in figures.values())


def test_an_axis_with_a_gap_is_drawn() -> None:
    tasks = [task(f"t{n}", axis="depth", value=n) for n in range(3)]
    scores = {"cot": (1.0, None, 1.0), "mas": (None, None, None)}
    attempts = [
        attempt(name, one.id, score=score, plan=DIAMOND if name == "mas" else None)
        for name, many in scores.items()
        for one, score in zip(tasks, many, strict=True)
    ]
    results = run([info("cot", single=True, reference=True), info("mas")], tasks, attempts)

    figures = drawn(results)

    assert list(figures) == ["accuracy_cost", "axis_accuracy", "axis_gain", "verdicts", "plan_shapes"]
    assert all(svg(one).startswith("<svg") for one in figures.values())


def test_many_systems_and_many_agents_fit() -> None:
    names = [f"orchestrated:openai:a-rather-long-name-of-a-model-{n} dom=high" for n in range(12)]
    attempts = [
        attempt(name, "a", plan=DIAMOND, agents=()) if name != "cot" else attempt("cot", "a")
        for name in ["cot", *names]
    ]
    systems = [info("cot", single=True, reference=True), *map(info, names)]

    drawing = drawn(run(systems, [task("a")], attempts))["verdicts"]

    place(drawing)
    canvas = drawing.figure.bbox
    assert all(text.get_window_extent().x0 >= canvas.x0 for text in texts(drawing))


def test_names_are_only_ever_text() -> None:
    """Formulas, markup, characters that no font has: nothing of it fails, warns or gets out."""
    systems = [info("cot", single=True, reference=True), *(info(f"{n}{piece}") for n, piece in enumerate(FRAGMENTS))]
    systems.append(info(r"$\frac{$ <script>alert(1)</script>--> 计算 \ud83d" + "x" * 300))
    attempts = [attempt(one.name, "a", plan=None) for one in systems]

    for drawing in drawn(run(systems, [task("a")], attempts)).values():
        element = svg(drawing)
        root = ET.fromstring(element)
        tags = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert tags <= {"svg", "metadata", "RDF", "Work", "title", "type", "format", "creator", "Agent", "date"} | {
            "defs", "g", "path", "use", "clipPath", "rect",
        }  # fmt: skip
        assert not re.search(r"\son\w+=", element)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sc:5", "sc:5"),
        ("two\nlines\t", "two lines"),
        ("计算 é", "\N{REPLACEMENT CHARACTER}" * 2 + " é"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ("abcdefghijkl", "abcde…ijkl"[:6] + "ijkl"),
    ],
)
def test_drawable_text(text, expected) -> None:
    assert drawable(text, 10) == expected


def test_the_same_figure_gives_the_same_bytes_and_changes_no_settings() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    first, second = drawn(study(per_value=2, k=1)), drawn(study(per_value=2, k=1))

    assert all(svg(first[name]) == svg(second[name]) for name in first)
    assert dict(mpl.rcParams) == before
    with style():
        assert mpl.rcParams["text.parse_math"] is False


def test_names_of_axes_and_values_are_only_text_too() -> None:
    tasks = [task(f"t{n}", axis="".join(FRAGMENTS) + "\r", value=f"\r{piece}") for n, piece in enumerate(FRAGMENTS[:9])]
    attempts = [attempt(name, one.id, plan=None) for name in ("cot", "mas") for one in tasks]
    figures = drawn(run([info("cot", single=True, reference=True), info("mas")], tasks, attempts))

    assert list(figures) == ["accuracy_cost", "axis_accuracy", "axis_gain", "verdicts"]
    assert all(ET.fromstring(svg(one)).tag.endswith("svg") for one in figures.values())
