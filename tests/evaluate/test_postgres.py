"""Whole runs on PostgreSQL, where several machines may write one run."""

import json
import subprocess
import sys
import uuid

import pytest

from mas_orchestra.errors import ConfigError
from support.evaluation import config_of, opened, scripted, work

MAS = [sys.executable, "-m", "mas_orchestra.cli", "eval"]


@pytest.fixture
def name():
    return f"run-{uuid.uuid4().hex[:12]}"


async def test_a_run_is_kept_resumed_and_read(tmp_path, postgres_url, name):
    config = config_of("cot", "debate:2x2", "sc@cost:debate:2x2", store=postgres_url)
    model = scripted()
    with opened(tmp_path / name, config, model) as desk:
        assert (await work(desk)).unscored == 0
    calls = model.calls

    with opened(tmp_path / name, config, model) as desk:
        assert (await work(desk)).unscored == 0
        results = desk.store.results()

    assert model.calls == calls
    assert len(results.attempts) == 18
    assert not (tmp_path / name / "run.sqlite").exists()


async def test_sqlite_and_postgresql_hold_the_same(tmp_path, postgres_url, name):
    found = []
    for store in (None, postgres_url):
        with opened(tmp_path / (name if store else "sqlite"), config_of("cot", "sc:3", store=store)) as desk:
            await work(desk)
            found.append(
                [
                    (a.system, a.task_id, a.attempt, a.answer, a.score, a.calls, a.usage, a.cost_usd)
                    for a in desk.store.attempts()
                ]
            )

    assert found[0] == found[1]


def test_another_machine_joins_a_run_from_a_folder_of_its_own(tmp_path, postgres_url, name):
    (tmp_path / "model.toml").write_text('[default]\nreply = \'{"thinking": "", "answer": "42"}\'\n')
    lines = (json.dumps({"question": f"({n}) What is 6 times 7?", "answer": "42"}) for n in range(10))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    words = ["--system", "cot", "--system", "sc:3", "--tasks", "jsonl:tasks.jsonl?kind=text", "-k", "4", "--json"]
    run = [*MAS, "run", *words, "--model", "scripted:model.toml", "--quiet", "--store", postgres_url]

    machines = [
        subprocess.Popen(
            [*run, "--out", f"machine{number}/{name}", "--shard", f"{number}/2"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in (1, 2)
    ]
    ended = [machine.communicate(timeout=100) for machine in machines]

    assert [machine.returncode for machine in machines] == [0, 0], ended
    last = max((json.loads(out) for out, _ in ended), key=lambda told: told["spent"]["calls"])
    assert [one["scored"] for one in last["systems"]] == [40, 40]
    assert last["spent"]["calls"] == 40 + 120, "nothing is asked twice"


def test_a_run_of_the_same_name_and_another_configuration_is_refused(tmp_path, postgres_url, name):
    with opened(tmp_path / "one" / name, config_of("cot", store=postgres_url)):
        pass
    other = opened(tmp_path / "two" / name, config_of("cot", "sc:3", store=postgres_url))

    with pytest.raises(ConfigError, match="of another configuration"):
        other.__enter__()


def test_workers_share_a_database(tmp_path, postgres_url, name):
    (tmp_path / "model.toml").write_text('[default]\nreply = \'{"thinking": "", "answer": "42"}\'\n')
    lines = (json.dumps({"question": f"({n}) What is 6 times 7?", "answer": "42"}) for n in range(6))
    (tmp_path / "tasks.jsonl").write_text("\n".join(lines))
    words = ["--system", "cot", "--tasks", "jsonl:tasks.jsonl?kind=text", "--model", "scripted:model.toml", "-k", "3"]

    run = subprocess.run(
        [*MAS, "run", *words, "--store", postgres_url, "--out", f"runs/{name}", "--workers", "2", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["systems"][0]["scored"] == 18
