"""Spans of `mas solve`: asked for by the standard variables, and never in the way of the answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mas_orchestra.cli.telemetry import telemetry

ANSWER = json.dumps({"thinking": "6 * 7", "answer": "42"})


@pytest.fixture
def solve(tmp_path, monkeypatch):
    """Runs `mas solve` in a process of its own with these variables."""
    for name in ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("solver.toml").write_text(f"[default]\nreply = {json.dumps(ANSWER)}\n", encoding="utf-8")

    def run(**environ):
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        words = ["solve", "Secret?", "--model", "scripted:solver.toml", "--agent", "cot"]
        return subprocess.run(
            [sys.executable, "-m", "mas_orchestra.cli", *words], capture_output=True, text=True, timeout=60, check=False
        )

    return run


def test_spans_go_to_the_exporter_and_the_answer_stays_alone_on_stdout(solve):
    run = solve(OTEL_TRACES_EXPORTER="console")

    assert (run.returncode, run.stdout) == (0, "42\n")
    spans = [line.strip() for line in run.stderr.splitlines() if '"name": ' in line]
    assert spans == [
        '"name": "chat scripted:solver.toml",',
        '"name": "invoke_agent CoTAgent",',
        '"name": "invoke_workflow cot",',
    ]
    assert "Secret?" not in run.stderr


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_SERVICE_NAME": "shop"},
    ],
)
def test_without_being_asked_nothing_is_sent(solve, environ):
    run = solve(**environ)

    assert (run.returncode, run.stdout) == (0, "42\n")
    assert "invoke_workflow" not in run.stderr
    assert "spans" not in run.stderr


@pytest.mark.parametrize(
    "environ",
    [{"OTEL_TRACES_EXPORTER": "nowhere"}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}],
    ids=["unknown", "not installed"],
)
def test_an_exporter_that_is_not_there_is_said_and_costs_no_answer(solve, environ):
    run = solve(**environ)

    assert (run.returncode, run.stdout) == (0, "42\n")
    assert "No spans: there is no OpenTelemetry exporter" in run.stderr
    assert "pip install" in run.stderr


def test_without_the_variables_opentelemetry_is_not_even_imported(solve):
    program = (
        "import sys; from mas_orchestra.cli.telemetry import telemetry\n"
        "with telemetry({}) as listeners: assert listeners == ()\n"
        "assert not any(name.startswith('opentelemetry') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_the_protocol_names_the_exporter(capsys):
    asked = {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with telemetry(asked) as listeners:
        assert listeners == ()
    assert "'otlp_proto_grpc'" in capsys.readouterr().err
