"""Exports: what is in the store is in the files, and the statistics of the guide can be computed from them."""

import json
import re
from pathlib import Path

import numpy as np
import orjson
import pandas as pd
import pyarrow.parquet as pq
import pytest

from mas_orchestra.errors import FileFormatError, MissingExtraError
from mas_orchestra.evaluate.export import EXPORTED, export_run
from mas_orchestra.evaluate.statistics import paired_difference
from support.evaluation import RIGHT, WRONG, config_of, opened, question, scripted, work

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "evaluation.md"


def better_with_five(messages, params):
    """Right in every second task; a vote of five is right in three of four more."""
    text = messages[-1].content
    number = next(n for n in range(40) if question(n) in text)
    return RIGHT if number % 2 or (params.n == 5 and number % 4) else WRONG


@pytest.fixture
async def exported(tmp_path):
    """A run of two systems, exported in both formats, with its results."""
    with opened(tmp_path / "run", config_of("cot", "sc:5"), scripted(better_with_five), tasks=40) as desk:
        await work(desk)
        for kind in ("parquet", "jsonl"):
            export_run(desk.store, tmp_path / "data", kind)
        return tmp_path / "data", desk.store.results()


def rows_of(folder: Path, table: str, kind: str) -> list[dict]:
    if kind == "parquet":
        return pq.read_table(folder / f"{table}.parquet").to_pylist()
    return [orjson.loads(line) for line in (folder / f"{table}.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("table", EXPORTED)
async def test_both_formats_hold_the_same(exported, table):
    folder, _ = exported

    assert rows_of(folder, table, "parquet") == rows_of(folder, table, "jsonl")
    assert rows_of(folder, table, "jsonl")


async def test_attempts_hold_what_the_results_hold(exported):
    folder, results = exported
    rows = rows_of(folder, "attempts", "parquet")

    assert [
        (row["system"], row["task"], row["attempt"], row["score"], row["calls"], row["cost_usd"]) for row in rows
    ] == [(a.system, a.task_id, a.attempt, a.score, a.calls, a.cost_usd) for a in results.attempts]
    assert "outcome" not in rows[0]


async def test_steps_and_calls_name_their_attempt(exported):
    folder, results = exported
    attempts = {(a.system, a.task_id, a.attempt) for a in results.attempts}

    for table in ("steps", "calls"):
        rows = rows_of(folder, table, "parquet")
        assert {(row["system"], row["task"], row["attempt"]) for row in rows} == attempts
        assert all(row["input_tokens"] > 0 for row in rows)


async def test_tasks_hold_answers_and_questions(exported):
    folder, results = exported

    rows = rows_of(folder, "tasks", "parquet")
    assert [(row["task"], row["question"], json.loads(row["answers"])) for row in rows] == [
        (task.id, task.question, list(task.answers)) for task in results.tasks
    ]


async def test_where_it_comes_from_is_beside_it(exported):
    folder, results = exported
    told = json.loads((folder / "run.json").read_text())

    assert told["facts"] == results.facts
    assert told["config"] == results.config
    for fact in (
        "mas_orchestra",
        "python",
        "platform",
        "commit",
        "command",
        "seed",
        "models",
        "scorers",
        "tasks",
        "prompts",
    ):
        assert fact in told["facts"], f"{fact} is part of where a run comes from"


async def test_the_guide_s_lines_recompute_the_comparison(exported, monkeypatch, capsys):
    folder, results = exported
    (block,) = re.findall(r"```python\n(import pandas.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    assert block.count("\n") <= 11, "ten lines"
    monkeypatch.chdir(folder.parent)
    names: dict[str, object] = {}

    exec(compile(block, str(GUIDE), "exec"), names)

    means = {
        name: np.array(
            [
                np.mean([a.score for a in results.attempts if (a.system, a.task_id) == (name, task.id)])
                for task in results.tasks
            ]
        )
        for name in ("cot", "sc:5")
    }
    ours = paired_difference(means["sc:5"], means["cot"], "export")
    assert names["difference"].mean() == pytest.approx(ours.mean) == pytest.approx(0.25)
    assert names["low"] == pytest.approx(ours.low, abs=0.03)
    assert names["high"] == pytest.approx(ours.high, abs=0.03)
    assert names["test"].pvalue == pytest.approx(ours.p_value, abs=0.002)
    assert (names["test"].pvalue < 0.05) == (ours.p_value < 0.05)
    assert capsys.readouterr().out.startswith("+25.0 points [")


async def test_an_empty_run_has_files_with_columns(tmp_path):
    with opened(tmp_path / "run", config_of("cot")) as desk:
        written = export_run(desk.store, tmp_path / "data", "parquet")

    assert {file.name: rows for file, rows in written.items()} == {
        "attempts.parquet": 0,
        "steps.parquet": 0,
        "calls.parquet": 0,
        "tasks.parquet": 3,
    }
    assert {"system", "task", "score", "cost_usd"} <= set(pd.read_parquet(tmp_path / "data/attempts.parquet").columns)


async def test_empty_and_full_tables_have_the_same_columns(exported, tmp_path):
    folder, _ = exported
    with opened(tmp_path / "empty", config_of("cot")) as desk:
        export_run(desk.store, tmp_path / "none", "parquet")

    for table in EXPORTED:
        full = orjson.loads((folder / f"{table}.jsonl").read_bytes().splitlines()[0])
        assert sorted(pq.read_schema(tmp_path / "none" / f"{table}.parquet").names) == sorted(full)


async def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with opened(tmp_path / "run", config_of("cot")) as desk, pytest.raises(FileFormatError, match="cannot write to"):
        export_run(desk.store, tmp_path / "file" / "data", "jsonl")


async def test_parquet_without_its_library_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with opened(tmp_path / "run", config_of("cot")) as desk, pytest.raises(MissingExtraError, match=r"\[eval\]"):
        export_run(desk.store, tmp_path / "data", "parquet")
