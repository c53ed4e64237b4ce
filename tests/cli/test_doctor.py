"""``mas doctor`` in environments of our making."""

import json
import re
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from mas_orchestra.cli import findings
from mas_orchestra.cli.app import app
from mas_orchestra.cli.findings import examine
from mas_orchestra.models.keys import PROVIDER_KEYS

SECRET = "sk-planted-0123456789"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_embedded(monkeypatch):
    """A machine without llama.cpp and without weights."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(findings, "find_spec", lambda name: None)
    monkeypatch.setattr(findings, "find_weights", lambda model: None)


def mas(*words, **environ):
    return CliRunner().invoke(app, ["doctor", *map(str, words)], env=environ)


def test_with_a_model_it_ends_well_and_names_the_first_question(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    result = mas()

    assert result.exit_code == 0
    assert "✓ openai:NAME (OPENAI_API_KEY)" in result.stdout
    assert 'mas solve "' in result.stdout


def test_without_any_model_it_ends_with_1_and_the_commands_that_give_one(no_embedded):
    result = mas("--json")
    found = json.loads(result.stdout)

    assert result.exit_code == 1
    assert found["usable"] is False
    assert found["next_steps"][:2] == ["pip install 'mas-orchestra[local]'", "mas models get local:smollm2-135m"]
    assert "OPENAI_API_KEY" in found["next_steps"][2]


@pytest.mark.parametrize("name", [*sorted(set(PROVIDER_KEYS.values())), "MAS_API_KEY", "CORP_KEY"])
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_keys_are_named_and_never_shown(name, option, tmp_path):
    (tmp_path / "mas.toml").write_text('[endpoints."http://10.0.0.1/v1"]\napi_key_env = "CORP_KEY"\n')

    result = mas(*option, **{name: SECRET})

    assert re.search(rf'{name}"?: (set|true)', result.stdout)
    for length in range(4, len(SECRET)):
        assert SECRET[:length] not in result.stdout
    assert SECRET[-6:] not in result.output


def test_a_password_in_a_url_is_not_shown(no_embedded):
    url = f"http://me:{SECRET}@host/v1"

    result = mas(OPENAI_BASE_URL=url, MAS_MODEL=f"openai:x@{url}")

    assert SECRET not in result.output
    assert "OPENAI_BASE_URL cannot be used: the base URL of host holds a secret" in result.stdout
    assert "✗ openai:… (MAS_MODEL): " in result.stdout


@pytest.mark.parametrize(
    ("text", "problem"), [("[local]\nslotz = 2\n", "Did you mean 'slots'"), ("[local\n", "is not TOML")]
)
def test_a_settings_file_with_a_fault_is_named_first(tmp_path, text, problem):
    (tmp_path / "mas.toml").write_text(text)

    found = json.loads(mas("--json").stdout)

    assert found["config"]["path"] == "mas.toml"
    assert problem in found["config"]["problem"]
    assert found["next_steps"][0].startswith("mend mas.toml: ")


def test_a_settings_file_that_is_right_is_named(tmp_path):
    file = tmp_path / "other.toml"
    file.write_text("[local]\nslots = 2\n")

    assert f"✓ {file}" in mas("--config", file).stdout
    assert f"✓ {file}" in mas(MAS_CONFIG=str(file)).stdout


def test_a_file_that_is_asked_for_and_missing_is_a_fault(tmp_path):
    found = examine(tmp_path / "absent.toml", environ={})

    assert "cannot be read" in found.config.problem


def test_the_models_that_settings_and_environment_choose_are_tried(tmp_path, no_embedded):
    (tmp_path / "mas.toml").write_text('model = "openai:m@http://127.0.0.1:9/v1"\n')

    found = examine(environ={"MAS_ORCHESTRATOR": "scripted:absent.toml"})
    problems = {model.why: model.problem for model in found.models}

    assert problems["model in the settings"] is None
    assert "absent.toml" in problems["MAS_ORCHESTRATOR"]
    assert found.usable
    assert any(step.startswith("mend MAS_ORCHESTRATOR: ") for step in found.next_steps)


def test_models_of_sub_agents_and_of_the_menu_are_tried_and_a_missing_key_is_named(tmp_path, no_embedded):
    lines = ["[agents.SCAgent]", 'model = "openai:gpt-4o-mini"', "[menu.cheap]", 'model = "scripted:absent.toml"']
    (tmp_path / "mas.toml").write_text("\n".join(lines))

    problems = {model.why: model.problem for model in examine(environ={}).models}
    assert problems["[agents.SCAgent] in the settings"] == "there is no key for it; set OPENAI_API_KEY"
    assert "absent.toml" in problems["[menu.cheap] in the settings"]

    keyed = examine(environ={"OPENAI_API_KEY": "not-a-key-0123456"})
    assert {model.why: model.problem for model in keyed.models}["[agents.SCAgent] in the settings"] is None


def test_plug_ins_that_do_not_load_say_why_and_the_others_are_still_listed(monkeypatch):
    broken = EntryPoint(name="BrokenAgent", value="no_such_module:Agent", group="mas_orchestra.agents")
    good = EntryPoint(name="CoTAgent", value="mas_orchestra.agents.cot:CoTAgent", group="mas_orchestra.agents")
    monkeypatch.setattr(findings, "agent_entry_points", lambda: (broken, good))

    found = examine(environ={})

    assert [plugin.problem is None for plugin in found.plugins] == [False, True]
    assert "No module named 'no_such_module'" in found.plugins[0].problem
    assert any("pip uninstall" in step for step in found.next_steps)


def test_extras_are_those_of_the_package_with_their_versions():
    extras = examine(environ={}).extras

    assert set(extras) >= {"local", "fast", "bench"}
    assert "dev" not in extras
    assert "xllamacpp" in extras["local"]


def test_the_machine_is_measured():
    machine = examine(environ={}).machine

    assert machine.physical_cores >= machine.model_threads >= 1


def test_memory_that_the_system_does_not_tell_is_unknown(tmp_path):
    assert findings._memory_mb(tmp_path / "absent") == (None, None)
    (tmp_path / "meminfo").write_text("MemTotal:  2000000 kB\nMemAvailable: 1000000 kB\n")
    assert findings._memory_mb(tmp_path / "meminfo") == (2048, 1024)


def test_an_uninstalled_copy_says_so(monkeypatch):
    monkeypatch.setattr(findings, "PACKAGE", "not-an-installed-package")
    monkeypatch.setattr(findings, "agent_entry_points", tuple)

    found = examine(environ={})

    assert found.package is None
    assert found.extras == {}
    assert any("without being installed" in step for step in found.next_steps)


def test_hostile_text_in_the_environment_cannot_steer_the_terminal():
    result = mas(MAS_MODEL="nonsense:\x1b[2J")

    assert "\x1b" not in result.output
