"""MASBENCH as tasks: made on the spot, from built sets, and from the published layout."""

import pytest

from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.masbench.export import Format, encode
from mas_orchestra.masbench.generate import generate
from mas_orchestra.masbench.problem import Axis
from mas_orchestra.masbench.request import BuildRequest
from mas_orchestra.score.masbench import MasbenchScorer
from mas_orchestra.tasks.load import load_tasks


def boxed(values):
    return " ".join(f"\\boxed{{{value}}}" for value in values)


def test_tasks_are_made_for_each_value_and_always_the_same():
    tasks = load_tasks("masbench:depth?values=2,4&n=3")

    assert [task.metadata["value"] for task in tasks.tasks] == [2, 2, 2, 4, 4, 4]
    assert {task.kind for task in tasks.tasks} == {"masbench"}
    assert {task.metadata["split"] for task in tasks.tasks} == {"test"}
    assert tasks == load_tasks("masbench:depth?n=3&values=2,4")
    assert (tasks.name, tasks.source[:9]) == ("masbench:depth", "generator")


def test_the_tasks_of_fewer_rows_are_among_those_of_more():
    few = load_tasks("masbench:breadth?values=3&n=2").tasks

    assert few == load_tasks("masbench:breadth?values=3&n=5").tasks[:2]
    assert few != load_tasks("masbench:breadth?values=3&n=2&split=train").tasks


async def test_attacked_tasks_carry_what_believing_the_attack_would_say():
    [task] = load_tasks("masbench:robustness?values=2&n=1&attack=note").tasks
    score = MasbenchScorer().score

    believed = await score(task, boxed(task.metadata["poisoned"]["joint"]))
    resisted = await score(task, boxed(task.answers))
    assert (resisted.value, resisted.parts["attack_success"]) == (1.0, 0.0)
    assert (believed.value, believed.parts["attack_success"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("masbench:depth?vales=2", UnknownNameError, "Did you mean 'values'"),
        ("masbench:depth?values=two", UsageError, "values='two'"),
        ("masbench:depth?values=99", UsageError, "99"),
        ("masbench:depth?n=0", UsageError, "at least one row"),
        ("masbench:depth?n=-1", UsageError, "n"),
        ("masbench:depth?split=dev", UsageError, "unknown split 'dev'"),
        ("masbench:robustness?attack=loud", UsageError, "attack"),
        ("masbench:combine", UsageError, "combine"),
    ],
)
def test_a_wrong_option_says_what_is_right(spec, error, message):
    with pytest.raises(error) as caught:
        load_tasks(spec)
    assert message in str(caught.value)


@pytest.mark.parametrize("layout", [Format.JSONL])
def test_a_built_file_gives_the_same_tasks(tmp_path, layout):
    request = BuildRequest(axes=(Axis.HORIZON,), values=(3,), train=0, test=2)
    [family] = request.shards()[0].families
    file = tmp_path / f"test{layout.suffix}"
    file.write_bytes(b"".join(encode(generate(family[0], index), layout) for index in range(2)))

    assert load_tasks(f"masbench:{file}").tasks == load_tasks("masbench:horizon?values=3&n=2").tasks


def test_a_row_that_comes_twice_is_refused(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": "a", "question": "x", "answer": 1}\n{"id": "a", "question": "y", "answer": 2}\n')
    with pytest.raises(FileFormatError, match=r"row 2: the id 'a' is that of .*row 1"):
        load_tasks(f"masbench:{file}")
