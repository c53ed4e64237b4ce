"""``mas doctor`` and ``mas models`` where something is broken: they say what, and never break themselves."""

import json
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli import findings
from mas_orchestra.cli.app import app
from mas_orchestra.cli.findings import examine
from mas_orchestra.errors import ConfigError
from mas_orchestra.models import uri as model_uri

BROKEN_SETTINGS = {
    "a model that is no text": "[agents.SCAgent]\nmodel = 7\n",
    "a key's variable that is not set": (
        'model = "openai:m@http://h/v1"\n[endpoints."http://h/v1"]\napi_key_env = "NONE"\n'
    ),
    "a header's variable that is not set": (
        'model = "openai:m@http://h/v1"\n[endpoints."http://h/v1"]\nheaders = {X = "env:NONE"}\n'
    ),
    "an unknown scheme": 'model = "openal:m"\n',
    "no scheme": 'model = "gpt-4"\n',
    "a script that is missing": 'model = "scripted:none.toml"\n',
    "a script that is a folder": 'model = "scripted:."\n',
    "a local model that is unknown": 'model = "local:smollm"\n',
    "a local file that is missing": 'model = "local:none.gguf"\n',
    "a base URL without scheme": 'model = "openai:m@localhost:8000"\n',
    "a secret in a URL": 'model = "openai:m@http://me:planted-secret@h/v1"\n',
    "an unknown profile": 'model = "sim:week"\n',
    "a menu of nonsense": '[menu.cheap]\nmodel = "nonsense"\n',
    "an orchestrator of nonsense": 'orchestrator = ":"\n',
    "a file of bytes": "\x00\n",
    "a table where a value belongs": "[model]\nname = 3\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("MAS_MODEL", "MAS_ORCHESTRATOR", "MAS_CONFIG", "OPENAI_API_KEY", "OPENAI_BASE_URL", "MAS_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def mas(*words, **environ):
    return CliRunner().invoke(app, [*map(str, words)], env=environ)


@pytest.mark.parametrize("text", BROKEN_SETTINGS.values(), ids=BROKEN_SETTINGS)
class TestBrokenSettings:
    def test_doctor_names_what_is_wrong_and_what_to_mend(self, folder, text):
        (folder / "mas.toml").write_text(text)
        result = mas("doctor", "--json")
        found = json.loads(result.stdout)
        problems = [found["config"]["problem"], *(model["problem"] for model in found["models"])]
        assert any(problems)
        assert [step for step in found["next_steps"] if step.startswith("mend ")]
        assert "planted-secret" not in result.output

    def test_doctor_prints_it_for_people_too(self, folder, text):
        (folder / "mas.toml").write_text(text)
        result = mas("doctor")
        assert result.exit_code in {0, 1}
        assert "✗ " in result.stdout
        assert "planted-secret" not in result.output
        assert "Traceback" not in result.output

    def test_the_exit_code_says_whether_there_is_a_model_to_ask(self, folder, text):
        (folder / "mas.toml").write_text(text)
        result = mas("doctor", "--json")
        assert result.exit_code == (0 if json.loads(result.stdout)["usable"] else 1)

    def test_listing_models_ends_in_a_list_or_in_one_message(self, folder, text):
        (folder / "mas.toml").write_text(text)
        for option in ((), ("--json",)):
            result = mas("models", "list", *option)
            assert result.exit_code in {0, 2}
            assert result.stdout if result.exit_code == 0 else result.stderr
            assert "planted-secret" not in result.output


class TestBrokenEnvironment:
    @pytest.mark.parametrize("name", ["MAS_MODEL", "MAS_ORCHESTRATOR"])
    @pytest.mark.parametrize(
        "uri", ["gpt-4", "openal:x", "local:none", "scripted:none.toml", "sim:week", ":", "openai:"]
    )
    def test_a_variable_that_names_no_model_is_named(self, name, uri):
        found = json.loads(mas("doctor", "--json", **{name: uri}).stdout)
        (model,) = [each for each in found["models"] if each["why"] == name]
        assert model["problem"]
        assert any(step.startswith(f"mend {name}: ") for step in found["next_steps"])

    def test_a_variable_that_names_no_settings_file(self, folder):
        found = json.loads(mas("doctor", "--json", MAS_CONFIG=str(folder / "none.toml")).stdout)
        assert "none.toml: cannot be read" in found["config"]["problem"]

    def test_settings_that_are_a_folder(self, folder):
        found = json.loads(mas("doctor", "--json", MAS_CONFIG=str(folder)).stdout)
        assert "cannot be read" in found["config"]["problem"]

    @pytest.mark.parametrize("url", ["localhost:8000", "ftp://h", "http://", "http://[::1", "http://h:port/v1"])
    def test_a_base_url_that_is_none(self, url):
        result = mas("doctor", OPENAI_BASE_URL=url, MAS_MODEL="openai:m")
        assert result.exit_code in {0, 1}
        assert "✗ openai:" in result.stdout

    def test_a_key_that_no_header_can_carry(self):
        result = mas("doctor", MAS_MODEL="openai:m", OPENAI_API_KEY="planted\x07secret")
        assert "OPENAI_API_KEY holds characters that no HTTP header can carry" in result.stdout
        assert "planted" not in result.output


class TestBrokenPackages:
    @pytest.mark.parametrize("value", ["no_such_module:open", "json:no_such_name", "json:__name__"])
    def test_a_package_of_models_that_does_not_load_is_a_problem_of_its_models(self, monkeypatch, value):
        point = EntryPoint(name="odd", value=value, group=model_uri.ENTRY_POINT_GROUP)
        monkeypatch.setattr(model_uri, "entry_points", lambda group: (point,))
        (model,) = [each for each in examine(environ={"MAS_MODEL": "odd:x"}).models if each.why == "MAS_MODEL"]
        assert "odd" in model.problem

    @pytest.mark.parametrize("value", ["no_such_module:open", "json:no_such_name"])
    def test_asking_such_a_model_is_wrong_usage_and_no_traceback(self, monkeypatch, value):
        point = EntryPoint(name="odd", value=value, group=model_uri.ENTRY_POINT_GROUP)
        monkeypatch.setattr(model_uri, "entry_points", lambda group: (point,))
        result = mas("models", "check", "odd:x")
        assert result.exit_code == 2
        assert "Traceback" not in result.output

    @pytest.mark.parametrize("value", ["json:no_such_name", "json:loads", "no_such_module:Agent"])
    def test_a_sub_agent_that_is_none_is_named_and_the_rest_is_told(self, monkeypatch, value):
        point = EntryPoint(name="OddAgent", value=value, group="mas_orchestra.agents")
        monkeypatch.setattr(findings, "agent_entry_points", lambda: (point,))
        result = mas("doctor", "--json")
        found = json.loads(result.stdout)
        assert found["plugins"][0]["problem"]
        assert found["machine"]["physical_cores"] >= 1

    def test_the_settings_themselves_still_refuse_a_model_that_is_no_text(self, folder):
        """What doctor reports as a finding, a command that would use it reports as wrong usage."""
        (folder / "mas.toml").write_text("[agents.SCAgent]\nmodel = 7\n")
        result = mas("solve", "Why?", "--model", "sim:weak")
        assert result.exit_code == 2
        assert "agents.SCAgent.model: got 7" in result.output
        assert ConfigError.code == "bad_config"
