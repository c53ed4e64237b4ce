"""``mas``: what it lists, how quickly, and how any failure ends."""

import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from mas_orchestra import errors
from mas_orchestra.cli.app import COMMANDS, app
from mas_orchestra.cli.boundary import ExitCode, boundary
from mas_orchestra.cli.lazy import LazyCommand

MAS = [sys.executable, "-m", "mas_orchestra.cli"]


def mas(*words, **options):
    return subprocess.run([*MAS, *words], capture_output=True, text=True, timeout=60, check=False, **options)


def end_of(error, capsys):
    """Exit code and stderr of a command that raises `error`."""
    with pytest.raises(SystemExit) as end, boundary():
        raise error
    return end.value.code, capsys.readouterr().err


def test_help_lists_every_command_with_its_line():
    result = CliRunner().invoke(app, ["--help"])

    assert result.exit_code == 0
    for name, summary, _ in COMMANDS:
        assert f"{name} " in result.stdout
        assert summary in result.stdout
    assert "Examples:\n    mas solve" in result.stdout


@pytest.mark.parametrize("module", ["mas_orchestra", "mas_orchestra.cli"])
def test_both_packages_can_be_run(module):
    run = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)

    assert run.stdout.startswith("mas-orchestra ")


def test_help_imports_no_command_and_nothing_heavy():
    script = (
        "import sys, json\n"
        "sys.argv = ['mas', '--help']\n"
        "from mas_orchestra.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(json.dumps(sorted(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout.splitlines()[-1]))

    assert not loaded & {"pydantic", "rich", "numpy", "aiohttp", "asyncio", "jinja2", "mas_orchestra.types"}
    assert not loaded & {target.partition(":")[0] for _, _, target in COMMANDS}


def test_nothing_typed_shows_the_help_and_is_wrong_usage():
    run = mas()

    assert run.returncode == ExitCode.USAGE
    assert "Commands:" in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["solv"], "Did you mean 'solve'?"),
        (["solve", "q", "--modle", "x"], "--model"),
        (["--nothing"], "No such option"),
        (["solve", "q", "--dom", "middle"], "'low'"),
        (["trace", "show"], "Missing argument"),
    ],
)
def test_wrong_usage_exits_with_2_and_a_hint_on_stderr(words, hint):
    result = CliRunner().invoke(app, words)

    assert result.exit_code == ExitCode.USAGE
    assert hint in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("bad \x1b[2J words"), ExitCode.USAGE),
        (errors.ConfigError("mas.toml: unknown key"), ExitCode.USAGE),
        (errors.FileFormatError("no trace"), ExitCode.FAILED),
        (errors.ServerError("503 beyond the retries"), ExitCode.FAILED),
        (ExceptionGroup("group", [ExceptionGroup("inner", [errors.UsageError("deep")])]), ExitCode.USAGE),
    ],
)
def test_an_error_of_ours_is_one_clean_message(error, code, capsys):
    ended, message = end_of(error, capsys)

    assert ended == code
    assert message.startswith("Error: ")
    assert "Traceback" not in message
    assert "\x1b" not in message


@pytest.mark.parametrize("value", ["1", "yes"])
def test_debugging_adds_the_traceback(value, capsys, monkeypatch):
    monkeypatch.setenv("MAS_DEBUG", value)
    code, message = end_of(errors.UsageError("bad"), capsys)

    assert code == ExitCode.USAGE
    assert "Traceback" in message
    assert message.endswith("Error: bad\n")


@pytest.mark.parametrize("value", ["", "0"])
def test_debugging_can_be_switched_off(value, capsys, monkeypatch):
    monkeypatch.setenv("MAS_DEBUG", value)

    assert "Traceback" not in end_of(errors.UsageError("bad"), capsys)[1]


def test_a_fault_of_ours_says_how_to_report_it(capsys):
    code, message = end_of(KeyError("step"), capsys)

    assert code == ExitCode.FAILED
    assert "Traceback" in message
    assert "Internal error: KeyError: 'step'" in message
    assert "report it" in message


def test_an_interrupt_exits_with_130(capsys):
    assert end_of(KeyboardInterrupt(), capsys) == (ExitCode.INTERRUPTED, "Interrupted.\n")


def test_an_interrupt_of_any_command_is_reported(capsys):
    def stop() -> None:
        raise KeyboardInterrupt

    group = typer.main.get_command(app)
    stopping = typer.Typer(add_completion=False)
    stopping.command()(stop)
    group.add_command(typer.main.get_command(stopping), "stop")

    with pytest.raises(SystemExit) as end:
        group.main(["stop"])

    assert end.value.code == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "Interrupted.\n"


def test_a_reader_that_has_gone_is_no_traceback():
    script = (
        "import sys\n"
        "from mas_orchestra.cli.boundary import boundary\n"
        "with boundary():\n"
        "    for _ in range(100_000): print('x' * 100)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()

    assert process.wait(timeout=30) == ExitCode.FAILED
    assert process.stderr.read() == b""
    process.stderr.close()


def test_an_answer_that_the_terminal_cannot_encode_is_escaped():
    script = "import sys; sys.argv=['mas','--version']; from mas_orchestra.cli.app import run\nimport atexit\n"
    script += "atexit.register(lambda: print('计算 \\ud800'))\nrun()\n"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0
    assert "\\u8ba1\\u7b97 \\ud800" in run.stdout


def test_a_warning_is_one_clean_line():
    script = (
        "import sys, warnings, atexit; sys.argv = ['mas', '--version']\n"
        "from mas_orchestra.cli.app import run\n"
        "atexit.register(lambda: warnings.warn('a damaged file \\x1b[2J', stacklevel=1))\n"
        "run()\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert run.stderr == "Warning: a damaged file \\x1b[2J\n"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_listed_command_can_be_called(command):
    name, summary, _ = command
    loaded = LazyCommand(*command).load()

    assert loaded.name == name
    assert loaded.help
    assert len(f"  doctor  {summary}") <= 78, "the list would cut the line"
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Usage: ")
