import json
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.masbench.problem import Problem


def run(*arguments: object, code: int = 0):
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def built(tmp_path):
    out = tmp_path / "set"
    run(
        "build",
        "--out",
        out,
        "--axis",
        "depth",
        "--axis",
        "parallel",
        "--values",
        "2,3",
        "--train",
        2,
        "--test",
        1,
        "--workers",
        1,
    )
    return out


def test_build_lists_its_files_and_says_the_same_in_json(built):
    text = run(
        "build",
        "--out",
        built,
        "--axis",
        "depth",
        "--axis",
        "parallel",
        "--values",
        "2..3",
        "--train",
        2,
        "--test",
        1,
        "--workers",
        1,
    ).stdout
    assert [line.split()[0] for line in text.splitlines()] == ["4", "2", "4", "2"]
    again = run(
        "build",
        "--out",
        built,
        "--axis",
        "depth",
        "--axis",
        "parallel",
        "--values",
        "2,3",
        "--train",
        2,
        "--test",
        1,
        "--json",
    ).stdout
    document = json.loads(again)
    assert document["rows"] == 12
    assert document["request"]["values"] == [2, 3]
    assert len(document["files"]) == 4


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_a_build_with_130_and_says_how_to_go_on(tmp_path, workers):
    command = [sys.executable, "-m", "mas_orchestra.cli", "bench", "build", "--out", str(tmp_path / "set")]
    options = ["--train", "100000", "--workers", str(workers)]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob(".set.*.partial/depth/*")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "goes on from the files that are finished" in said
    assert "Traceback" not in said
    assert not (tmp_path / "set").exists()


def test_what_was_built_is_verified_by_the_reader_of_texts(built):
    assert "12 rows: no fault" in run("verify", built).stdout


def test_load_counts_rows_and_copies_them(built, tmp_path):
    assert run("load", built).stdout.splitlines()[-1].split() == ["12"]
    copy = tmp_path / "copy.jsonl"
    document = json.loads(run("load", built, "--axis", "depth", "--split", "test", "--out", copy, "--json").stdout)
    assert document["groups"] == [{"axis": "depth", "value": value, "split": "test", "rows": 1} for value in ("2", "3")]
    assert [Problem.model_validate_json(line).value for line in copy.read_text().splitlines()] == [2, 3]


def test_show_makes_a_problem_or_takes_one_of_a_set(built):
    made = run("show", "--axis", "robustness", "--value", 2, "--attack", "claim").stdout
    assert "Problem 12: " in made
    assert "Believing every false value:" in made
    row = json.loads(run("show", built, "--axis", "parallel", "--row", 1, "--json").stdout)
    assert (row["axis"], row["value"], row["split"]) == ("parallel", 3, "test")
    assert run("show", built, "--mermaid").stdout.startswith("flowchart LR\n")
    sized = json.loads(run("show", "--size", "d=3,b=2,n=4,T=9,p=2", "--json").stdout)
    assert (sized["axis"], sized["value"], sized["parameters"]["p"]) == ("combine", None, 2)


def test_show_reads_rows_that_are_not_ours(tmp_path):
    path = tmp_path / "foreign.jsonl"
    path.write_text(json.dumps({"question": "How many?\x1b[2J", "answer": ["5"], "axis": "depth", "value": 4}))
    assert "Answers: 5" in run("show", path).stdout
    assert json.loads(run("show", path, "--json").stdout)["answers"] == ["5"]
    assert "not one of ours" in run("show", path, "--mermaid", code=2).output


def test_stats_print_histograms_and_draw_them(built, tmp_path):
    figure = tmp_path / "figure.svg"
    text = run("stats", built, "--figure", figure).stdout
    assert "final answer" in text
    assert figure.read_text().startswith("<svg ")
    assert json.loads(run("stats", built, "--axis", "depth", "--json").stdout)["histograms"]["depth"] == {
        "2": 3,
        "3": 3,
    }


def test_gallery_goes_to_stdout_or_into_a_file(tmp_path):
    page = run("gallery").stdout
    run("gallery", "--out", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--values", "2..x"), "neither a number nor a range"),
        (("--values", "14"), "every axis ends at 12"),
        (("--values", "2..99999999999"), "every axis ends at 12"),
        (("--values", "1"), "has no value 1"),
        (("--values", "5..2"), "write 2..5"),
        (("--values", ""), "neither a number nor a range"),
        (("--values", "-3"), "neither a number nor a range"),
        (("--size", ""), "known: d, b, n, T"),
        (("--axis", "combine", "--size", "d=4,b=2,n=5,T=8,d=5"), "each letter once"),
        (("--axis", "combine", "--size", "d=4,b=2,n=5,T=8,h=4"), "use h<=3"),
        (("--axis", "depth", "--size", "d=4,b=2,n=5,T=8"), "a size is for the axis combine"),
        (("--axis", "depth", "--needle"), "are for the axes combine, robustness"),
        (("--train", "-1"), "0"),
        (("--train", "99999999"), "different ones at most"),
        (("--axis", "combine"), "give its parameters"),
        (("--axis", "combine", "--size", "d=4"), "b, n, T missing"),
        (("--axis", "combine", "--size", "d=4,b=2,n=5,T=8,q=1"), "unknown q; known: d, b, n, T, h, p, r"),
        (("--axis", "combine", "--size", "d=4,b=2,n=-5,T=8"), "n must be a whole number"),
        (("--axis", "combine", "--size", "d=4,b=2,n=50,T=80"), "use n=15 or less"),
        (("--axis", "nonsense"), "nonsense"),
    ],
)
def test_wrong_requests_end_with_code_2_and_the_remedy(tmp_path, arguments, says):
    result = run("build", "--out", tmp_path / "set", *arguments, code=2)
    assert says in result.output
    assert not list(tmp_path.iterdir())


def test_gallery_gives_its_problems_as_json():
    lines = [json.loads(line) for line in run("gallery", "--json").stdout.splitlines()]
    assert lines[0]["title"] == "Depth 4"
    assert [Problem.model_validate(line["problem"]).question for line in lines]
    assert "leave out --out" in run("gallery", "--json", "--out", "x", code=2).output


def test_show_takes_the_row_of_the_asked_value_and_no_option_in_vain(built):
    assert json.loads(run("show", built, "--value", 3, "--json").stdout)["value"] == 3
    assert "has no row 0" in run("show", built, "--value", 9, code=2).output
    assert (
        "--size is for the axis combine" in run("show", "--axis", "depth", "--size", "d=4,b=2,n=5,T=8", code=2).output
    )
    assert "--size is for the axis combine" in run("show", "--value", 3, "--size", "d=4,b=2,n=5,T=8", code=2).output
    assert "has no sweep" in run("show", "--axis", "combine", code=2).output


@pytest.mark.parametrize("command", ["load", "stats"])
def test_a_selection_without_rows_is_said(built, command):
    assert (
        "no row of axis width of split test" in run(command, built, "--axis", "width", "--split", "test", code=2).output
    )


def test_a_figure_is_svg_by_name_too(built, tmp_path):
    assert "ends in .svg" in run("stats", built, "--figure", tmp_path / "f.png", code=2).output
    assert not (tmp_path / "f.png").exists()


def test_a_missing_row_or_file_is_said(built, tmp_path):
    assert "has no row 99" in run("show", built, "--row", 99, code=2).output
    assert "no such path" in run("stats", tmp_path / "nothing" / "there", code=2).output
    assert "cannot write" in run("gallery", "--out", tmp_path / "no" / "page.md", code=1).output
    assert "cannot write" in run("load", built, "--out", tmp_path / "no" / "rows.jsonl", code=1).output
