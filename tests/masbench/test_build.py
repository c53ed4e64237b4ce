import multiprocessing
import subprocess
import sys

import orjson
import pytest

from mas_orchestra.errors import FileFormatError, MasError, MissingExtraError, UsageError
from mas_orchestra.masbench import build as build_module
from mas_orchestra.masbench import export
from mas_orchestra.masbench.build import MANIFEST, build, read_manifest
from mas_orchestra.masbench.export import Format
from mas_orchestra.masbench.load import load
from mas_orchestra.masbench.problem import AttackKind, Axis, Parameters, Problem, Style
from mas_orchestra.masbench.request import BuildRequest

SMALL = BuildRequest(axes=(Axis.DEPTH, Axis.ROBUSTNESS), values=(2, 3), train=3, test=2)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_set_has_a_folder_an_axis_with_train_and_test(tmp_path):
    report = build(tmp_path / "set", SMALL)
    assert [(file.path, file.rows) for file in report.files] == [
        ("depth/train.jsonl", 6),
        ("depth/test.jsonl", 4),
        ("robustness/train.jsonl", 6),
        ("robustness/test.jsonl", 4),
    ]
    assert report.rows == 20
    assert set(contents(tmp_path / "set")) == {*(file.path for file in report.files), "README.md", MANIFEST}
    assert [path.name for path in tmp_path.iterdir()] == ["set"], "nothing is left beside it"
    assert read_manifest(tmp_path / "set") == report


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path):
    request = SMALL.model_copy(update={"train": 150})
    build(tmp_path / "one", request, workers=1)
    build(tmp_path / "four", request, workers=4)
    assert contents(tmp_path / "one") == contents(tmp_path / "four")


def test_every_row_is_a_problem_of_its_folder(tmp_path):
    build(tmp_path / "set", SMALL)
    for path in (tmp_path / "set").rglob("*.jsonl"):
        rows = [Problem.model_validate_json(line) for line in path.read_bytes().splitlines()]
        assert {row.axis for row in rows} == {path.parent.name}
        assert {row.split for row in rows} == {path.stem}
        assert [row.value for row in rows] == sorted(row.value for row in rows)
        assert len({row.id for row in rows}) == len(rows)


def test_kinds_of_attack_are_used_in_turn_where_something_is_attacked(tmp_path):
    request = SMALL.model_copy(update={"attacks": (AttackKind.CLAIM, AttackKind.INJECTION)})
    build(tmp_path / "set", request)
    kinds = [row.problem.attack for row in load(tmp_path / "set", axis="robustness", split="train")]
    assert kinds == [AttackKind.CLAIM, AttackKind.INJECTION, AttackKind.CLAIM] * 2
    assert {row.problem.attack for row in load(tmp_path / "set", axis="depth")} == {None}


def test_the_same_build_again_changes_nothing(tmp_path):
    first = build(tmp_path / "set", SMALL)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "set").rglob("*")}
    assert build(tmp_path / "set", SMALL) == first
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "set").rglob("*")} == before


def test_another_build_in_the_same_folder_is_refused_and_says_what_differs(tmp_path):
    build(tmp_path / "set", SMALL)
    with pytest.raises(UsageError, match=r"another build \(it differs in train, style\): choose another --out"):
        build(tmp_path / "set", SMALL.model_copy(update={"train": 5, "style": Style.PAPER}))


def test_a_folder_of_something_else_is_refused_and_an_empty_one_is_used(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="holds no build"):
        build(tmp_path / "mine", SMALL)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    (tmp_path / "empty").mkdir()
    assert build(tmp_path / "empty", SMALL).rows == 20


def test_a_damaged_build_is_not_taken_for_a_finished_one(tmp_path):
    build(tmp_path / "set", SMALL)
    (tmp_path / "set" / "depth" / "test.jsonl").write_text("")
    with pytest.raises(FileFormatError, match="not as built"):
        build(tmp_path / "set", SMALL)


class StopError(Exception):
    pass


def test_an_interrupted_build_leaves_nothing_that_loads_and_goes_on_where_it_stopped(tmp_path):
    def stop(done, total):
        assert total == 20
        if done > 6:  # the first file is finished, the second is not
            raise StopError

    with pytest.raises(StopError):
        build(tmp_path / "set", SMALL, on_progress=stop)
    assert not (tmp_path / "set").exists()
    [partial] = tmp_path.iterdir()
    assert [path.name for path in partial.rglob("*.jsonl")] == ["train.jsonl"]
    with pytest.raises(UsageError, match="unfinished build"):
        load(partial)
    with pytest.raises(UsageError, match="no such path"):
        load(tmp_path / "set")
    kept = (partial / "depth" / "train.jsonl").stat().st_ino

    seen = []
    build(tmp_path / "set", SMALL, on_progress=lambda done, total: seen.append(done))
    assert (tmp_path / "set" / "depth" / "train.jsonl").stat().st_ino == kept
    assert seen[0] == 6, "the finished file is counted at once"
    build(tmp_path / "fresh", SMALL)
    assert contents(tmp_path / "set") == contents(tmp_path / "fresh")


def test_a_worker_that_dies_ends_the_build_with_advice(tmp_path):
    def kill(done, total):
        for child in multiprocessing.active_children():
            child.kill()

    with pytest.raises(MasError, match="a worker process died: out of memory"):
        build(tmp_path / "set", SMALL.model_copy(update={"train": 2_000}), workers=2, on_progress=kill)
    assert not (tmp_path / "set").exists()


def test_progress_only_grows_and_ends_at_the_total(tmp_path):
    seen = []
    build(tmp_path / "set", SMALL, on_progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (20, 20)


def test_two_builds_of_the_same_at_once_are_refused_but_the_lock_of_a_dead_one_is_free(tmp_path):
    partial = tmp_path / f".set.{build_module._digest(SMALL)}.partial"
    partial.mkdir()
    code = (
        "import sys, pathlib; from mas_orchestra.masbench.build import _only_builder\n"
        "with _only_builder(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(partial)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(FileFormatError, match="another process is building"):
            build(tmp_path / "set", SMALL)
        other.kill()
    assert (partial / "lock").exists(), "the other one died without cleaning up"
    assert build(tmp_path / "set", SMALL).rows == 20


def test_a_place_that_cannot_be_written_is_an_error_with_advice(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileFormatError, match="choose another folder"):
        build(tmp_path / "file" / "set", SMALL)


def test_parquet_without_pyarrow_names_the_extra_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"mas-orchestra\[bench\]"):
        build(tmp_path / "set", SMALL.model_copy(update={"format": Format.PARQUET}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"axes": (Axis.COMBINE,)}, "give its parameters"),
        ({"train": 0, "test": 0}, "nothing to build"),
        ({"axes": ()}, "nothing to build"),
        ({"values": (2, 13)}, "has no value 13"),
        ({"train": 801_505}, "801504 different ones at most"),
        ({"test": 10**9}, "different ones at most"),
        ({"axes": (Axis.DEPTH,), "parameters": Parameters(d=4, b=2, n=5, T=9)}, "a size is for the axis combine"),
        ({"axes": (Axis.COMBINE,), "parameters": Parameters(d=4, b=2, n=5, T=9)}, "combine has no values"),
        ({"axes": (Axis.DEPTH,), "needle": True}, "are for the axes combine, robustness"),
        ({"axes": (Axis.DEPTH,), "attacks": (AttackKind.CLAIM,)}, "are for the axes combine, robustness"),
    ],
)
def test_requests_that_cannot_be_built_are_refused_before_anything_is_written(tmp_path, change, says):
    with pytest.raises(UsageError, match=says):
        build(tmp_path / "set", SMALL.model_copy(update=change))
    assert not list(tmp_path.iterdir())


def test_combine_takes_any_parameters(tmp_path):
    size = Parameters(d=4, b=2, n=6, T=14, h=2, p=2, r=3)
    build(tmp_path / "set", BuildRequest(axes=(Axis.COMBINE,), parameters=size, train=4, test=0, needle=True))
    rows = list(load(tmp_path / "set"))
    assert {row.value for row in rows} == {None}
    assert all(row.problem.measured.robustness == 3 for row in rows)


def test_the_card_names_files_rows_and_the_command(tmp_path):
    build(tmp_path / "set", SMALL)
    card = (tmp_path / "set" / "README.md").read_text()
    assert "| `depth/train.jsonl` | 6 |" in card
    assert (
        "mas bench build --out DIR --format jsonl --axis depth --axis robustness --values 2,3 --train 3 --test 2"
        in card
    )
    assert "- config_name: depth\n  data_files:\n  - split: train\n    path: [depth/train.jsonl]" in card


def test_parquet_of_both_layouts_keeps_every_row(tmp_path):
    pytest.importorskip("pyarrow")
    build(tmp_path / "jsonl", SMALL)
    expected = [row.problem for row in load(tmp_path / "jsonl")]
    for layout in (Format.PARQUET, Format.HF):
        build(tmp_path / layout, SMALL.model_copy(update={"format": layout}))
        assert [row.problem for row in load(tmp_path / layout)] == expected


def test_the_published_columns_are_strings_with_the_published_keys():
    from mas_orchestra.masbench.generate import Recipe, generate
    from mas_orchestra.masbench.problem import Split

    size = Parameters(d=4, b=2, n=6, T=10, h=3)
    problem = generate(Recipe(axis=Axis.HORIZON, parameters=size, split=Split.TEST, value=3), 17)
    row = export.encode(problem, Format.HF)
    assert tuple(row) == export.PUBLISHED_COLUMNS
    assert all(isinstance(cell, str) for cell in row.values())
    truth = orjson.loads(row["reward_model_json"])["ground_truth"]
    assert truth.split("<<horizon>>") == [str(answer) for answer in problem.answers]
    assert orjson.loads(row["prompt_json"]) == [{"role": "user", "content": problem.question}]
    extra = orjson.loads(row["extra_info_json"])
    assert (extra["answer"], extra["depth"], extra["index"]) == (truth, 4, 17)
    assert row["value"] == "3"
    assert orjson.loads(row["data"])["data_source"] == "masbench/horizon"
