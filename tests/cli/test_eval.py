"""``mas eval``: from a configuration to a table, and what each way to go wrong is told."""

import json
import os
import pty
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from mas_orchestra.cli.boundary import ExitCode
from mas_orchestra.cli.eval_live import shown
from mas_orchestra.cli.eval_view import estimate_lines, progress_line, scoreboard_lines
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.evaluate.estimate import Estimate, SystemEstimate
from mas_orchestra.evaluate.progress import Ended, Tallies, Tally

MODEL = """
price = { input = 1, output = 2 }
[default]
reply = '{"thinking": "six sevens", "answer": "42"}'
"""
BASE = (
    "--system",
    "cot",
    "--system",
    "sc:3",
    "--tasks",
    "jsonl:tasks.jsonl?kind=text",
    "--model",
    "scripted:model.toml",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "model.toml").write_text(MODEL)
    lines = (json.dumps({"question": f"({n}) What is 6 times 7?", "answer": "42"}) for n in range(4))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def mas(*words):
    return CliRunner().invoke(app, ["eval", *words])


def ran(*words):
    result = mas("run", *BASE, "-k", "2", *words)
    assert result.exit_code == 0, result.output
    return result


def test_a_run_prints_a_table_and_where_it_is(folder):
    result = ran()

    lines = result.stdout.splitlines()
    assert lines[0].split() == ["system", "scored", "errored", "accuracy", "cost"]
    assert [line.split()[:4] for line in lines[1:]] == [["cot", "8/8", "0", "100.0"], ["sc:3", "8/8", "0", "100.0"]]
    assert "run: runs/evaluation    report: mas eval report runs/evaluation" in result.stderr
    assert sorted(path.name for path in (folder / "runs/evaluation").iterdir()) == [
        "config.toml",
        "run.lock",
        "run.sqlite",
    ]


def test_the_estimate_comes_before_the_first_call(folder):
    lines = ran().stderr.splitlines()

    assert lines[0].split()[:3] == ["system", "attempts", "calls"]
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["cot", "8", "8", "8"],
        ["sc:3", "8", "24", "24"],
        ["all", "16", "32", "32"],
    ]


def test_a_script_gets_one_object(folder):
    result = ran("--json", "--quiet")

    told = json.loads(result.stdout)
    assert told["status"] == "done"
    assert told["stopped"] is None
    assert told["spent"]["calls"] == 32
    assert [(one["system"], one["scored"], one["accuracy"]) for one in told["systems"]] == [
        ("cot", 8, 1.0),
        ("sc:3", 8, 1.0),
    ]
    assert result.stderr == ""


def test_a_file_holds_what_options_say(folder):
    (folder / "mine.toml").write_text(
        'name = "mine"\nsystems = ["cot"]\ntasks = ["jsonl:tasks.jsonl?kind=text"]\nmodel = "scripted:model.toml"\n'
    )

    result = mas("run", "mine.toml", "-k", "3", "--set", "seed=5", "--json")

    told = json.loads(result.stdout)
    assert (told["run"], told["attempts_per_task"], told["tasks"]) == ("runs/mine", 3, 4)
    assert "seed = 5" in (folder / "runs/mine/config.toml").read_text()


def test_the_same_run_again_asks_nothing(folder):
    first = json.loads(ran("--json").stdout)

    assert json.loads(ran("--json").stdout) == first


def test_another_configuration_in_the_same_folder_is_refused_with_the_difference(folder):
    ran()

    result = mas("run", *BASE, "-k", "3")

    assert result.exit_code == ExitCode.USAGE
    assert "attempts: stored 2, asked for 3" in str(result.stderr)


def test_a_folder_that_holds_something_else_is_refused(folder):
    (folder / "full").mkdir()
    (folder / "full" / "precious.txt").write_text("mine")

    result = mas("run", *BASE, "--out", "full")

    assert result.exit_code == ExitCode.USAGE
    assert "holds no run" in result.stderr
    assert (folder / "full" / "precious.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((*BASE, "--max-calls", "5"), 1, "cap of 5 calls: expected 128 calls"),
        ((), 2, "nothing to compare"),
        (("--system", "cot", "--model", "scripted:model.toml"), 2, "no tasks: give --tasks SPEC"),
        (("--system", "cott", *BASE[4:]), 2, "Did you mean 'cot'"),
        (("--system", "cot", "--tasks", "jsonl:none.jsonl", "--model", "scripted:model.toml"), 2, "no such file"),
        (("nowhere.toml",), 2, "cannot be read"),
        ((*BASE, "--store", "mysql://x/y"), 2, "accepted are postgresql://"),
        ((*BASE, "--store", "postgresql://a:b@c/d"), 2, "PGPASSWORD"),
        ((*BASE, "--max-cost", "0"), 2, "not a number above 0"),
        ((*BASE, "--workers", "0"), 2, "--workers"),
        ((*BASE, "--set", "atempts=3"), 2, "Did you mean 'attempts'"),
    ],
)
def test_what_goes_wrong_before_the_first_call_leaves_nothing_behind(folder, words, code, told):
    result = mas("run", *words)

    assert result.exit_code == code
    assert told in result.stderr
    left = [path.name for path in folder.glob("runs/**/*") if path.is_file() and path.name != "run.lock"]
    assert left == []


def test_a_cap_that_is_reached_exits_with_1_and_says_how_to_go_on(folder):
    result = mas("run", *BASE, "-k", "2", "--max-calls", "10", "--stop-at-cap", "--json")

    assert result.exit_code == ExitCode.FAILED
    told = json.loads(result.stdout)
    assert told["status"] == "stopped"
    assert told["spent"]["calls"] <= 10
    assert "Go on with: mas eval resume runs/evaluation" in result.stderr

    resumed = mas("resume", "runs/evaluation", "--max-calls", "1000", "--json")
    assert resumed.exit_code == 0, resumed.output
    assert json.loads(resumed.stdout)["status"] == "done"


def test_attempts_without_a_score_exit_with_1(folder):
    (folder / "model.toml").write_text(
        '[[rules]]\ncontains = "(1)"\nfail = "server_error"\n' + MODEL.replace("price", "# ")
    )

    result = mas("run", *BASE, "-k", "1", "--json")

    assert result.exit_code == ExitCode.FAILED
    assert json.loads(result.stdout)["status"] == "unscored"
    assert "2 attempts have no score. Try them again with: mas eval resume runs/evaluation" in result.stderr


def test_resume_needs_a_run(folder):
    result = mas("resume", "runs/nothing")

    assert result.exit_code == ExitCode.USAGE
    assert "runs/nothing holds no run" in result.stderr


def test_runs_are_listed_with_how_far_they_are(folder):
    assert "no runs in runs; begin one with `mas eval run`" in mas("list").stderr
    ran()

    told = json.loads(mas("list", "--json").stdout)["runs"]
    lines = mas("list").stdout.splitlines()

    assert [(one["run"], one["systems"], one["tasks"], one["scored"]) for one in told] == [
        ("runs/evaluation", 2, 4, 16)
    ]
    assert lines[1].split()[0] == "runs/evaluation"


def test_a_damaged_run_is_listed_with_the_reason(folder):
    ran()
    (folder / "runs/evaluation/run.sqlite").write_bytes(b"damaged" * 100)

    result = mas("list", "--json")

    assert "not a database" in json.loads(result.stdout)["runs"][0]["error"]


def test_rescoring_says_what_changed(folder):
    ran()

    assert json.loads(mas("rescore", "runs/evaluation", "--json").stdout) == {
        "run": "runs/evaluation",
        "attempts": 16,
        "changed": 0,
        "unscored": 0,
    }
    assert "16 attempts scored anew, 0 changed" in mas("rescore", "runs/evaluation").stdout


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_an_export_lists_its_files(folder, kind):
    ran()

    told = json.loads(mas("export", "runs/evaluation", "--format", kind, "--out", "data", "--json").stdout)

    assert told == {
        f"data/attempts.{kind}": 16,
        f"data/steps.{kind}": 16,
        f"data/calls.{kind}": 16,
        f"data/tasks.{kind}": 4,
    }


def test_a_report_is_written(folder):
    ran()

    result = mas("report", "runs/evaluation")

    assert result.exit_code == 0, result.output
    assert "cot" in (folder / result.stdout.strip()).read_text()


def test_an_estimate_asks_and_writes_nothing(folder):
    told = json.loads(mas("estimate", *BASE, "-k", "2", "--json").stdout)

    assert told["total"]["calls"] == told["total"]["worst_calls"] == 32
    assert not (folder / "runs").exists()


def test_an_estimate_of_a_run_is_what_is_left(folder):
    ran()

    assert json.loads(mas("estimate", "runs/evaluation", "--json").stdout)["total"]["attempts"] == 0


def test_no_key_reaches_a_run_s_folder(folder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "geheim-12345")
    ran()

    assert not any(b"geheim-12345" in path.read_bytes() for path in (folder / "runs/evaluation").iterdir())


def tally(**counts) -> Tally:
    return Tally(**{"total": 100, "scored": 40, "errored": 2, "score_sum": 30.0, "cost_usd": 0.5, **counts})


def test_a_line_of_progress_says_everything():
    line = progress_line("sc:5", tally(in_flight=8, finished_here=21), elapsed_s=21.0)

    for part in ("sc:5", "42/100", "40 scored", "2 errored", "75.0 %", "$0.5000", "8 in flight", "ETA 1 min 0 s"):
        assert part in line
    assert len(line) <= 120


def test_a_line_before_the_first_attempt_promises_nothing():
    line = progress_line("cot", Tally(total=10), elapsed_s=1.0)

    assert "ETA -" in line
    assert " - " in line


def test_hostile_names_and_unknown_costs_are_shown_safely():
    line = progress_line("plan:\x1b[2J.xml", tally(cost_usd=None), elapsed_s=1.0)

    assert "\x1b" not in line
    assert "unknown" in line
    assert "\x1b" not in "\n".join(scoreboard_lines({"\x1b[2J": tally()}))


def test_an_unknown_estimate_is_unknown():
    one = SystemEstimate(
        system="x",
        attempts=1,
        calls=None,
        worst_calls=None,
        tokens=None,
        worst_tokens=None,
        cost_usd=None,
        worst_cost_usd=None,
    )
    lines = estimate_lines(Estimate(systems=(one,), total=one), Spent(calls=3, tokens=40, cost_usd=None))

    assert lines[1].split() == ["x", "1", *["unknown"] * 5]
    assert lines[-1] == "spent before: 3 calls, 40 tokens, cost unknown"


def test_tallies_follow_attempts():
    tallies = Tallies({"cot": Tally(total=3)})
    for score in (1.0, None):
        tallies.started("cot")
        tallies.ended(Ended(system="cot", score=score, cost_usd=0.25))
    tallies.started("cot")
    tallies.aborted("cot")
    tallies.started("cot")
    tallies.ended(Ended(system="cot", score=0.0, cost_usd=None, is_new=False))

    one = tallies.by_system["cot"]
    assert (one.scored, one.errored, one.in_flight, one.accuracy, one.cost_usd) == (2, 0, 0, 0.5, None)


async def test_quiet_shows_nothing(capsys):
    tallies = Tallies({"cot": Tally(total=3)})
    async with shown(tallies, sys.stderr, quiet=True) as watch:
        watch.started("cot")

    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_one_live_line_a_system(folder):
    (folder / "model.toml").write_text(MODEL.replace("[default]", "[default]\nlatency_s = 0.3"))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "mas_orchestra.cli", "eval", "run", *BASE, "-k", "3", "--concurrency", "2"]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "140", "PYTHONIOENCODING": "utf-8"}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environ)
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(ours)

    assert process.wait() == 0
    assert b"in flight" in seen
    assert seen.count(b"\x1b[1A") > 1, "lines are drawn over each other"


def test_shards_together_are_the_whole_run(folder):
    first = mas("run", *BASE, "-k", "2", "--shard", "1/3", "--json")
    assert [one["scored"] for one in json.loads(first.stdout)["systems"]] == [4, 4], "tasks 1 and 4"

    for shard in ("2/3", "3/3"):
        last = mas("run", *BASE, "-k", "2", "--shard", shard, "--json")

    told = json.loads(last.stdout)
    assert [one["scored"] for one in told["systems"]] == [8, 8]
    assert told["spent"]["calls"] == 32


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none(folder, text):
    result = mas("run", *BASE, "--shard", text)

    assert result.exit_code == ExitCode.USAGE
    assert "expected I/N" in result.stderr
    assert not (folder / "runs").exists()
