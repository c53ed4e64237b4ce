"""From URIs to models."""

import subprocess
import sys

import pytest

from mas_orchestra.config import Settings
from mas_orchestra.errors import FileFormatError, UnknownNameError, UsageError
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.models.uri import open_model


@pytest.mark.parametrize(
    ("uri", "opened"),
    [
        ("openai:gpt-4.1-mini", "openai:gpt-4.1-mini"),
        ("openai:gpt-4.1-mini@https://api.openai.com/v1/", "openai:gpt-4.1-mini"),
        ("openai:meta/llama@http://LOCALHOST:8000/v1", "openai:meta/llama@http://localhost:8000/v1"),
        ("openai:@cf/meta/llama@https://h/v1", "openai:@cf/meta/llama@https://h/v1"),
        ("openai:model@20240101", "openai:model@20240101"),
        ("openai:qwen2.5:7b@http://localhost:11434/v1", "openai:qwen2.5:7b@http://localhost:11434/v1"),
    ],
)
def test_an_endpoint_is_named_by_model_and_base_url(uri, opened):
    model = open_model(uri, Settings(), environ={})
    assert isinstance(model, OpenAICompatibleModel)
    assert model.uri == opened
    assert open_model(model.uri, Settings(), environ={}).uri == model.uri


def test_the_environment_may_say_where_openai_is():
    environ = {"OPENAI_BASE_URL": "http://gateway/v1"}
    assert open_model("openai:m", Settings(), environ=environ).uri == "openai:m@http://gateway/v1"


@pytest.mark.parametrize("uri", ["", "gpt-4", "openai:", ":x", "openai"])
def test_what_is_no_uri_lists_the_forms(uri):
    with pytest.raises(UsageError, match=r"openai:NAME|Known: local, openai, scripted"):
        open_model(uri, Settings(), environ={})


def test_an_unknown_scheme_names_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'openai'\? Known: local, openai, scripted"):
        open_model("openal:gpt-4", Settings(), environ={})


def test_a_base_url_without_its_scheme_is_completed_in_the_message():
    with pytest.raises(UsageError, match="openai:m@http://localhost:8000/v1"):
        open_model("openai:m@localhost:8000/v1", Settings(), environ={})


def test_a_missing_name_says_so():
    with pytest.raises(UsageError, match="name is missing"):
        open_model("openai:@http://localhost:8000/v1", Settings(), environ={})


def test_a_script_is_read_at_once(tmp_path):
    path = tmp_path / "script.toml"
    path.write_text('default = { reply = "42" }')
    model = open_model(f"scripted:{path}", Settings(), environ={})
    assert isinstance(model, ScriptedModel)
    assert model.uri == f"scripted:{path}"
    with pytest.raises(FileFormatError, match="cannot be read"):
        open_model("scripted:none.toml", Settings(), environ={})


@pytest.mark.parametrize(("uri", "loaded"), [("scripted:FILE", "set()"), ("openai:m", "{'aiohttp'}")])
def test_only_what_the_model_needs_is_loaded(tmp_path, uri, loaded):
    path = tmp_path / "script.toml"
    path.write_text('default = { reply = "42" }')
    code = (
        "import sys; from mas_orchestra.config import Settings; from mas_orchestra.models.uri import open_model\n"
        "open_model(sys.argv[1], Settings()); print({'aiohttp', 'genai_prices', 'xllamacpp'} & sys.modules.keys())"
    )
    command = [sys.executable, "-c", code, uri.replace("FILE", str(path))]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == loaded
