"""Accuracy and gain along the axes of MASBENCH."""

import math

from mas_orchestra.evaluate.scoreboard import scoreboard
from mas_orchestra.tasks.task import Task
from support.results import attempt, info, run, study, task


def board_of(tasks, scores):
    """Scores by system, one a task in order."""
    attempts = [
        attempt(name, one.id, score=score)
        for name, many in scores.items()
        for one, score in zip(tasks, many, strict=True)
    ]
    systems = [info(name, single=name == "cot", reference=name == "cot") for name in scores]
    return scoreboard([run(systems, tasks, attempts)])


def test_values_are_sorted_as_numbers_and_axes_by_name() -> None:
    places = [("depth", "10"), ("depth", "2"), ("breadth", 4), ("depth", "none")]
    tasks = [task(f"t{n}", axis=axis, value=value) for n, (axis, value) in enumerate(places)]

    board = board_of(tasks, {"cot": [1.0] * 4})

    assert [(table.axis, table.values) for table in board.axes] == [("breadth", (4,)), ("depth", (2, 10, "none"))]


def test_accuracy_and_gain_at_each_value() -> None:
    tasks = [task(f"t{n}", axis="depth", value=n % 2) for n in range(6)]

    (table,) = board_of(tasks, {"cot": [1.0, 0.0] * 3, "mas": [1.0, 1.0] * 3}).axes

    accuracy = {(point.entrant.label, point.value): point.accuracy.mean for point in table.points}
    assert accuracy == {("cot", 0): 1.0, ("cot", 1): 0.0, ("mas", 0): 1.0, ("mas", 1): 1.0}
    assert [(gain.value, gain.paired.difference.mean) for gain in table.gains] == [(0, 0.0), (1, 1.0)]


def test_a_value_without_scores_is_undefined() -> None:
    tasks = [task("a", axis="depth", value=2), task("b", axis="depth", value=4)]

    (table,) = board_of(tasks, {"cot": [1.0, None], "mas": [1.0, 1.0]}).axes

    assert math.isnan(next(point for point in table.points if point.value == 4).accuracy.mean)
    assert table.gains[1].paired.difference.tasks == 0


def test_single_agents_have_no_gain() -> None:
    (table,) = board_of([task("a", axis="depth", value=2)], {"cot": [1.0]}).axes

    assert not table.gains


def test_tasks_without_an_axis_make_no_table() -> None:
    odd = [
        Task(id=f"t{n}", question="?", metadata=metadata)
        for n, metadata in enumerate(({}, {"axis": "depth"}, {"axis": 3, "value": 1}, {"axis": "x", "value": True}))
    ]

    assert not board_of(odd, {"cot": [1.0] * 4}).axes


def test_gains_of_all_axes_are_one_family() -> None:
    board = scoreboard([study(per_value=6, k=1)])
    gains = [gain.paired for table in board.axes for gain in table.gains]
    raw = [gain.difference.p_value for gain in gains]

    assert len(gains) == 33
    smallest = min(range(len(raw)), key=raw.__getitem__)
    assert gains[smallest].verdict.adjusted_p == min(1.0, 33 * raw[smallest])
