"""``mas models``: list, check, get."""

import asyncio
import json
import threading
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli.app import app
from support.endpoint import completion, message, serve, status, text
from support.endpoint import json as reply_json


def mas(*words, **environ):
    return CliRunner().invoke(app, ["models", *map(str, words)], env=environ)


@contextmanager
def running(behaviour):
    """The loopback endpoint in a thread of its own, since the command runs an event loop itself."""
    ready, loop, ended = threading.Event(), asyncio.new_event_loop(), asyncio.Event()
    found = []

    async def run():
        async with serve() as endpoint:
            endpoint.handle(behaviour)
            found.append(endpoint)
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


async def able(call):
    """An endpoint that does everything."""
    if "tools" in call.body:
        asked = {"function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
        return await reply_json(completion(message(None, tool_calls=[asked]), finish="tool_calls"))(call)
    return await text('{"result": 42}' if "response_format" in call.body else "42")(call)


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "mas.toml"
    path.write_text(
        'model = "openai:small@http://localhost:8000/v1"\n'
        '[endpoints."http://localhost:8000/v1"]\nconcurrency = 16\nheaders = { X-Key = "planted-header" }\n'
        "[prices.small]\ninput = 0.1\noutput = 0.4\n"
    )
    return path


class TestList:
    def test_everything_that_is_known(self, config):
        result = mas("list", "--config", config)
        assert result.exit_code == 0, result.output
        for expected in (
            "model = openai:small@http://localhost:8000/v1",
            "openai:NAME[@BASE_URL]",
            "scripted:FILE",
            "base_url http://localhost:8000/v1, concurrency 16",
            "small: input 0.1, output 0.4",
            "local:smollm2-135m",
        ):
            assert expected in result.stdout
        assert "planted" not in result.output

    def test_without_settings_it_says_what_can_be_set(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        result = mas("list")
        assert result.exit_code == 0
        assert "none; name one with --model" in result.stdout

    def test_as_json(self, config):
        found = json.loads(mas("list", "--config", config, "--set", "prices.small.output=0.5", "--json").stdout)
        assert found["endpoints"] == [{"base_url": "http://localhost:8000/v1", "concurrency": 16}]
        assert found["prices"]["small"]["output"] == 0.5
        assert found["embedded"][0]["uri"] == "local:smollm2-135m"

    def test_wrong_settings_are_wrong_usage(self):
        result = mas("list", "--set", "local.slot=3")
        assert result.exit_code == 2
        assert "Did you mean 'slots'?" in result.output


class TestCheck:
    def test_an_endpoint_that_does_everything(self):
        with running(able) as endpoint:
            result = mas("check", f"openai:test@{endpoint.base_url}", "--json")
        assert result.exit_code == 0, result.output
        report = json.loads(result.stdout)
        abilities = ("reachable", "usage_reported", "stream_usage_reported", "tools", "json_schema", "native_n")
        assert {name: report[name] for name in abilities} == dict.fromkeys(abilities, True)
        assert report["latency_s"] > 0
        assert report["cost_usd"] is None
        assert report["usage"]["output_tokens"] == 20
        assert report["problems"] == []
        assert endpoint.count == 5

    def test_an_endpoint_that_does_little(self):
        with running(text("Sure! 42.", usage=None, native_n=False)) as endpoint:
            result = mas("check", f"openai:test@{endpoint.base_url}")
        assert result.exit_code == 0
        rows = {line[2:20].strip(): line[20:].strip() for line in result.stdout.splitlines()[1:]}
        assert rows["reachable"] == "yes"
        assert [rows[name] for name in ("usage reported", "usage in streams", "tool calls", "JSON schema")] == [
            "no"
        ] * 4
        assert rows["n samples at once"] == "no"
        assert rows["tokens used"].endswith("at least")
        assert rows["cost"] == "unknown"

    def test_an_endpoint_that_refuses_says_why_and_fails(self):
        with running(status(401, "bad key")) as endpoint:
            result = mas("check", f"openai:test@{endpoint.base_url}")
        assert result.exit_code == 1
        assert "no key was sent; set MAS_API_KEY" in result.stdout
        assert "not tried" in result.stdout

    def test_control_characters_of_an_endpoint_do_no_harm(self):
        with running(reply_json(completion(message("42"), model="\x1b[2Jfake\x9b"))) as endpoint:
            result = mas("check", f"openai:test@{endpoint.base_url}")
        assert "\x1b" not in result.stdout
        assert "\\x1b[2Jfake" in result.stdout

    def test_a_script_is_a_model_too(self, tmp_path):
        script = tmp_path / "script.toml"
        script.write_text('default = { reply = "42" }')
        result = mas("check", f"scripted:{script}", "--json")
        assert json.loads(result.stdout)["reachable"]

    @pytest.mark.parametrize("uri", ["gpt-4", "openal:x", "openai:x@localhost:8000"])
    def test_a_wrong_uri_is_wrong_usage(self, uri):
        assert mas("check", uri).exit_code == 2


class TestGet:
    def test_weights_that_are_there_are_not_fetched(self):
        result = mas("get", "local:smollm2-135m")
        assert result.exit_code == 0, result.output
        assert result.stdout.strip().endswith(".gguf")

    @pytest.mark.parametrize(
        ("uri", "words"), [("local:smollm", "Did you mean 'smollm2-135m'"), ("openai:gpt-4", "only embedded models")]
    )
    def test_what_cannot_be_fetched_is_wrong_usage(self, uri, words):
        result = mas("get", uri)
        assert result.exit_code == 2
        assert words in result.output


@pytest.mark.parametrize("command", [(), ("list",), ("check",), ("get",)])
def test_every_help_has_an_example(command):
    result = mas(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout
