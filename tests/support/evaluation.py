"""Building blocks for tests of evaluations: small runs on scripted models, and a PostgreSQL server of one's own."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mas_orchestra.evaluate.attempt import AttemptKey
from mas_orchestra.evaluate.config import EvalConfig
from mas_orchestra.evaluate.launch import Desk, open_desk
from mas_orchestra.evaluate.run_folder import RunFolder
from mas_orchestra.evaluate.store import Store
from mas_orchestra.models import ScriptedModel
from mas_orchestra.models.base import Choice
from mas_orchestra.run import CallRecord, Failure, Outcome, StepRecord
from mas_orchestra.score.base import Score
from mas_orchestra.tasks.task import Task
from mas_orchestra.tasks.task_set import TaskSet, fingerprint
from mas_orchestra.types import Message, OutcomeStatus, Role, StepStatus, Usage

MODEL = "scripted:model"
RIGHT = '{"thinking": "six sevens", "answer": "42"}'
WRONG = '{"thinking": "a guess", "answer": "41"}'
PLAN = (
    "<agent><agent_id>a</agent_id><agent_name>CoTAgent</agent_name>"
    "<required_arguments><agent_input></agent_input></required_arguments></agent>"
)


def question(number: int) -> str:
    return f"Task {number}: what is 6 times 7?"


def some_tasks(count: int) -> TaskSet:
    tasks = tuple(
        Task(id=f"t{number}", question=question(number), answers=("42",), kind="text") for number in range(count)
    )
    return TaskSet(name="made", tasks=tasks, fingerprint=fingerprint(tasks), licence="", source="made")


def config_of(*systems: str, **settings) -> EvalConfig:
    return EvalConfig(**{"model": MODEL, "systems": systems, "attempts": 2, "concurrency": 4, **settings})


def scripted(function=lambda messages, params: RIGHT) -> ScriptedModel:
    return ScriptedModel.from_function(function, name="model")


@contextmanager
def opened(
    path: Path, config: EvalConfig, model: ScriptedModel | None = None, *, tasks: int = 3, **more
) -> Iterator[Desk]:
    """A run that is begun or gone on with, on a model made by the test."""
    folder = RunFolder(path)
    with ExitStack() as stack, folder.locked():
        folder.begin(config)
        models = {config.model: model or scripted(), **more.pop("models", {})}
        yield open_desk(folder, config, stack=stack, tasks=[some_tasks(tasks)], models=models, **more)


async def work(desk: Desk):
    """Work a run off in this process; the ending."""
    return await desk.work(desk.tallies(), desk.budget(desk.config.caps, desk.store.spent()))


def key(system: str = "cot", task: str = "t0", attempt: int = 0, seed: int = 0) -> AttemptKey:
    return AttemptKey(system=system, task_id=task, attempt=attempt, seed=seed)


def an_outcome(answer: str | None = "42", *, calls: int = 1, cost_usd: float | None = 0.01, **more) -> Outcome:
    """A run of one step with so many calls."""
    usage = Usage(input_tokens=10, output_tokens=5)
    records = tuple(
        CallRecord(
            step="agent",
            purpose=f"sample {number}",
            model=MODEL,
            messages=(Message(role=Role.USER, content="What is 6 times 7?"),),
            choices=(Choice(content=RIGHT),),
            usage=usage,
            cost_usd=cost_usd,
            started_s=0.0,
            latency_s=0.5,
        )
        for number in range(calls)
    )
    step = StepRecord(id="agent", agent="CoTAgent", status=StepStatus.ANSWERED, output=answer, calls=records)
    return Outcome(
        **{
            "status": OutcomeStatus.ANSWERED,
            "system": "cot",
            "question": "What is 6 times 7?",
            "task_id": "t0",
            "answer": answer,
            "steps": (step,),
            "calls": calls,
            "usage": Usage(input_tokens=10 * calls, output_tokens=5 * calls),
            "cost_usd": None if cost_usd is None else cost_usd * calls,
            "started_at": "2026-01-01T00:00:00.000+00:00",
            **more,
        }
    )


def a_broken_outcome(code: str = "unreachable") -> Outcome:
    failure = Failure(code=code, message="no connection")
    return an_outcome(None, status=OutcomeStatus.ENDPOINT_ERROR, failure=failure)


def write_attempts(url: str, run: str, writer: int, count: int) -> None:
    """What each of several processes does."""
    with Store(url, run) as store:
        for number in range(count):
            store.add(key(attempt=number), an_outcome(f"writer {writer}"), Score(value=1.0, reason="right"))
            store.add(key(system=f"own {writer}", attempt=number), an_outcome(), Score(value=1.0, reason="right"))


def postgres_binaries() -> Path | None:
    """Where a PostgreSQL server is installed, as Debian does it or on the search path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def postgres_server(folder: Path, binaries: Path) -> Iterator[str]:
    """The URL of a server that runs while inside; it refuses to run as root, so root hands it to another user."""
    data, port = folder / "data", _free_port()
    as_user = ["runuser", "-u", _plain_user(), "--"] if os.geteuid() == 0 else []
    if as_user:
        shutil.chown(folder, _plain_user())

    def call(name: str, *arguments: str) -> None:
        subprocess.run(
            [*as_user, str(binaries / name), *arguments], check=True, stdout=subprocess.DEVNULL, timeout=60, cwd="/"
        )

    call("initdb", "-D", str(data), "-U", "mas", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
    options = f"-p {port} -h 127.0.0.1 -k {folder} -F"
    call("pg_ctl", "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        call("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "mas", "runs")
        yield f"postgresql://mas@127.0.0.1:{port}/runs"
    finally:
        call("pg_ctl", "-D", str(data), "-m", "immediate", "stop")


def _plain_user() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
