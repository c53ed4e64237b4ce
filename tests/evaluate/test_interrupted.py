"""Runs that are killed: only attempts in flight are lost, nothing is paid twice, the table ends up the same."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from mas_orchestra import seeds
from mas_orchestra.evaluate.run_folder import RunFolder

MAS = [sys.executable, "-m", "mas_orchestra.cli"]
SYSTEMS = ("cot", "sc:3", "debate:2x2", "sc@cost:debate:2x2")
TASKS, ATTEMPTS = 12, 3
TOTAL = len(SYSTEMS) * TASKS * ATTEMPTS

MODEL = """
price = { input = 1, output = 2 }

[[rules]]
contains = "(3)"
latency_s = 0.004
reply = '{"thinking": "a guess", "answer": "41"}'

[default]
latency_s = 0.004
reply = '{"thinking": "six sevens", "answer": "42"}'
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.toml").write_text(MODEL)
    lines = (json.dumps({"question": f"({n}) What is 6 times 7?", "answer": "42"}) for n in range(TASKS))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    return tmp_path


def command(out: str, *more: str) -> list[str]:
    systems = [word for name in SYSTEMS for word in ("--system", name)]
    return [
        *(*MAS, "eval", "run", *systems, "--tasks", "jsonl:tasks.jsonl?kind=text", "--model", "scripted:model.toml"),
        *("-k", str(ATTEMPTS), "--concurrency", "8", "--out", out, "--quiet", *more),
    ]


def run(folder, out: str, *more: str):
    return subprocess.run(command(out, *more), cwd=folder, capture_output=True, text=True, timeout=100, check=False)


def start(folder, out: str, *more: str):
    return subprocess.Popen(
        command(out, *more), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def table(folder, out: str) -> dict:
    run_folder = RunFolder(folder / out)
    with run_folder.store(run_folder.config()) as store:
        return {(a.system, a.task_id, a.attempt): (a.answer, a.score, a.calls, a.cost_usd) for a in store.attempts()}


def stored(folder, out: str) -> int:
    run_folder = RunFolder(folder / out)
    if not (run_folder.path / "run.sqlite").is_file():
        return 0
    with run_folder.store(run_folder.config()) as store:
        return len(store.scored()) if store.exists() else 0


def kill_at(process, folder, out: str, moment_s: float) -> int:
    """Kill a run at a moment of its life; how many attempts it had stored by then."""
    deadline = time.monotonic() + moment_s
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    process.wait()
    return stored(folder, out)


def survives(folder, kills: int) -> Counter:
    """Kill a run so many times, at moments drawn anew each time, each time going on with it."""
    rng = seeds.rng("kill", kills)
    before, progress = 0, Counter()
    for number in range(kills):
        now = kill_at(start(folder, "runs/killed"), folder, "runs/killed", rng.uniform(0.2, 1.6))
        assert now >= before, "what was stored stays stored"
        progress["with progress"] += now > before
        before = now
        if now == TOTAL:  # done: begin anew, so that every kill meets a run that works
            progress["finished"] += 1
            check(folder)
            for file in sorted((folder / "runs" / "killed").iterdir()):
                file.unlink()
            before = 0
        progress["kills"] = number + 1
    return progress


def check(folder) -> None:
    """The killed run, finished, has the same table as one that nobody disturbed."""
    ended = run(folder, "runs/killed")
    assert ended.returncode == 0, ended.stderr
    if not (folder / "runs" / "calm").exists():
        assert run(folder, "runs/calm").returncode == 0
    assert table(folder, "runs/killed") == table(folder, "runs/calm")
    assert len(table(folder, "runs/calm")) == TOTAL


def test_a_run_survives_being_killed(folder):
    progress = survives(folder, kills=3)

    assert progress["kills"] == 3
    check(folder)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_run_survives_being_killed_fifty_times(folder):
    progress = survives(folder, kills=50)

    assert progress["kills"] == 50
    assert progress["with progress"] > 10, "the kills met runs that worked"
    check(folder)


def test_a_stored_attempt_is_never_asked_again(folder):
    assert run(folder, "runs/a").returncode == 0
    before = table(folder, "runs/a")

    again = run(folder, "runs/a", "--json")

    assert again.returncode == 0
    assert table(folder, "runs/a") == before
    spent = json.loads(again.stdout)["spent"]
    assert spent["calls"] == sum(calls for _, _, calls, _ in before.values())


def wait_for(condition, timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the run made no progress"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_is_clean_and_the_run_goes_on(folder, number, workers):
    process = subprocess.Popen(
        command("runs/a", "--workers", workers), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: stored(folder, "runs/a") > 0)
    process.send_signal(number)
    _, told = process.communicate(timeout=30)

    assert process.returncode == 130
    assert "what is stored is safe. Go on with: mas eval resume runs/a" in told
    assert "Traceback" not in told
    resumed = subprocess.run(
        [*MAS, "eval", "resume", "runs/a", "--quiet"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert resumed.returncode == 0, resumed.stderr
    assert len(table(folder, "runs/a")) == TOTAL


def test_a_second_process_is_kept_out(folder):
    process = start(folder, "runs/a")
    try:
        wait_for(lambda: stored(folder, "runs/a") > 0)
        process.send_signal(signal.SIGSTOP)  # so that it is still at it, however slow the second is to start
        second = run(folder, "runs/a")
    finally:
        process.kill()
        process.wait()

    assert second.returncode == 2
    assert f"is being run by process {process.pid} on" in second.stderr
    assert "--workers" in second.stderr


def test_workers_end_with_the_same_table(folder):
    assert run(folder, "runs/one").returncode == 0
    several = run(folder, "runs/several", "--workers", "3")

    assert several.returncode == 0, several.stderr
    assert table(folder, "runs/several") == table(folder, "runs/one")


def test_workers_keep_the_caps_together(folder):
    ended = run(folder, "runs/a", "--workers", "2", "--max-calls", "100", "--stop-at-cap", "--json")

    assert ended.returncode == 1
    told = json.loads(ended.stdout)
    assert told["status"] == "stopped"
    assert 80 <= told["spent"]["calls"] <= 100


def test_workers_end_when_their_parent_is_killed(folder):
    process = start(folder, "runs/a", "--workers", "2")
    wait_for(lambda: stored(folder, "runs/a") > 0)
    process.kill()
    process.wait()

    def is_alone() -> bool:
        found = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, text=True, check=False)
        return found.stdout.split() == []

    wait_for(is_alone)
    assert run(folder, "runs/a").returncode == 0
    assert len(table(folder, "runs/a")) == TOTAL
