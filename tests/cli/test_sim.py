"""``mas sim``: list and serve."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from support.simulated import SINGLE


def mas(*words):
    return CliRunner().invoke(app, ["sim", *words])


def test_profiles_are_listed_as_simulated():
    shown = mas("profiles").stdout

    assert all(f"sim:{name}" in shown for name in ("weak", "strong", "short-output"))
    assert "SIMULATED" in shown


def test_profiles_are_listed_as_json():
    assert json.loads(mas("profiles", "--json").stdout)["weak"]["operation_budget"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["serve", "wek"], "Did you mean 'weak'"),
        (["serve", "--host", "0.0.0.0", "--port", "0"], "--key-env"),
        (["serve", "--key-env", "MAS_NO_SUCH_KEY"], "MAS_NO_SUCH_KEY: that environment variable is not set"),
    ],
)
def test_wrong_usage_is_explained(words, message):
    result = mas(*words)

    assert result.exit_code == 2
    assert message in result.stderr


@contextmanager
def served(*words, **environ):
    """The command in a process of its own, and the base URL that it prints."""
    command = [sys.executable, "-m", "mas_orchestra", "sim", "serve", "--port", "0", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environ) as process:
        try:
            line = process.stdout.readline()
            yield process, line, line.partition(" at ")[2].partition(";")[0]
        finally:
            process.kill()


def post(base_url, model):
    body = {"model": model, "messages": [{"role": "user", "content": SINGLE}], "seed": 1}
    request = urllib.request.Request(f"{base_url}/chat/completions", json.dumps(body).encode())
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
        return json.load(reply)


@pytest.mark.parametrize("word", ["weak", "sim:weak"])
def test_a_profile_is_served_until_the_process_is_told_to_end(word):
    with served(word) as (process, line, base_url):
        reply = post(base_url, "sim:weak")
        process.send_signal(signal.SIGTERM)

        assert process.wait(timeout=30) == 0
    assert "SIMULATED" in line
    assert reply["model"] == "sim:weak (SIMULATED)"
    assert "\\boxed{" in reply["choices"][0]["message"]["content"]


def test_ctrl_c_ends_it_as_an_interruption():
    with served() as (process, line, _):
        process.send_signal(signal.SIGINT)

        assert process.wait(timeout=30) == 130
    assert all(name in line for name in ("sim:weak", "sim:strong", "sim:short-output"))
