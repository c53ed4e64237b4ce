"""The configuration of an evaluation: layers, wrong values, and the file that is kept with a run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.errors import ConfigError
from mas_orchestra.evaluate.config import (
    OPERATIONAL,
    EvalConfig,
    differences,
    read_eval_config,
    read_stored_config,
    to_toml,
)
from support.evaluation import config_of

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))

FULL = {
    "name": "full",
    "systems": ("cot", "orchestrated:openai:q@http://localhost:8000/v1 dom=high"),
    "reference": "cot",
    "tasks": ("jsonl:my tasks.jsonl?kind=text",),
    "limits": {"max_calls": 50, "timeout_s": 60.5},
    "caps": {"max_cost_usd": 1e-7},
    "on_step_error": "partial",
    "agents": {"SCAgent": {"samples": 7, "early_stop": True}, "DebateAgent": {"rounds": 3}},
    "endpoints": {"http://localhost:8000/v1": {"concurrency": 4, "headers": {"X-Title": 'a "b" \\ c'}}},
    "prices": {"a.b/c": {"input": 1.0, "output": 2.5}},
}


def stored(config: EvalConfig, tmp_path) -> EvalConfig:
    file = tmp_path / "config.toml"
    file.write_text(to_toml(config), encoding="utf-8")
    return read_stored_config(file)


@pytest.mark.parametrize("settings", [{"systems": ("cot",)}, FULL], ids=["least", "full"])
def test_a_configuration_reads_back_as_it_was_kept(settings, tmp_path):
    config = EvalConfig(**settings)

    assert stored(config, tmp_path) == config


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_any_text_survives_being_kept(text, tmp_path_factory):
    config = EvalConfig(systems=("cot",), corpus=text, agents={"A": {text or "x": [text, 1, True, 0.5, {"k": text}]}})

    assert stored(config, tmp_path_factory.mktemp("toml")) == config


@pytest.mark.parametrize("number", [0.1, 1e-300, 1e16, 1e22, 3.0, 123456.789])
def test_any_number_survives_being_kept(number, tmp_path):
    config = EvalConfig(systems=("cot",), prices={"x": {"input": number, "output": 0.0}})

    assert stored(config, tmp_path) == config


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('systems = ["cot"]\natempts = 3', "unknown key. Did you mean 'attempts'?"),
        ('systems = ["cot"]\n[limits]\nmax_cals = 3', "unknown key. Did you mean 'max_calls'?"),
        ('systems = ["cot"]\n[caps]\nmax_money = 3', "Known: max_calls, max_cost_usd, max_time_s, max_tokens"),
        ('systems = ["cot"]\n[endpoints."http://x"]\nkonkurrency = 3', "Did you mean 'concurrency'?"),
        ("attempts = 2", "systems: got"),
        ("systems = []", "systems: got"),
        ('systems = "cot"', "systems: got 'cot'"),
        ('systems = ["cot"]\nattempts = 0', "attempts: got 0; input should be greater than or equal to 1"),
        ('systems = ["cot"]\nattempts = "many"', "attempts: got 'many'"),
        ('systems = ["cot"]\nname = "../up"', "name: got '../up'"),
        ('systems = ["cot"]\non_step_error = "ignore"', "on_step_error: got 'ignore'"),
        ('systems = ["cot"]\nstore = "postgresql://mas:geheim@db/runs"', "PGPASSWORD"),
        ("systems = [", "is not TOML"),
    ],
)
def test_whatever_is_wrong_is_named_with_its_place(text, told, tmp_path):
    file = tmp_path / "evaluation.toml"
    file.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_eval_config(file)

    assert told in str(caught.value)
    assert "evaluation.toml" in str(caught.value)


def test_a_password_is_refused_and_a_user_is_not():
    assert EvalConfig(systems=("cot",), store="postgresql://mas@db:5432/runs").store
    with pytest.raises(ValueError, match="PGPASSWORD"):
        EvalConfig(systems=("cot",), store="postgresql://mas:x@db/runs")


@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "cookie"])
def test_a_secret_in_a_header_is_refused_without_showing_it(header, tmp_path):
    file = tmp_path / "evaluation.toml"
    file.write_text(f'systems = ["cot"]\n[endpoints."http://x".headers]\n{header} = "geheim"\n')

    with pytest.raises(ConfigError, match="env:NAME") as caught:
        read_eval_config(file)
    assert "geheim" not in str(caught.value)

    file.write_text(file.read_text().replace("geheim", "env:KEY"))
    assert read_eval_config(file).endpoints["http://x"].headers == {header: "env:KEY"}


def test_layers_go_over_each_other(tmp_path):
    base, file = tmp_path / "mas.toml", tmp_path / "evaluation.toml"
    base.write_text('model = "scripted:base"\n[agents.SCAgent]\nsamples = 3\nearly_stop = true\n')
    file.write_text('systems = ["cot"]\nattempts = 4\n[agents.SCAgent]\nsamples = 5\n[limits]\nmax_calls = 9\n')

    config = read_eval_config(file, ["attempts=6"], given={"seed": 7, "limits": {"max_tokens": 100}}, base=base)

    assert config.model == "scripted:base"
    assert config.agents["SCAgent"] == {"samples": 5, "early_stop": True}
    assert (config.attempts, config.seed) == (6, 7)
    assert (config.limits.max_calls, config.limits.max_tokens) == (9, 100)


def test_settings_of_the_current_folder_are_the_lowest_layer(tmp_path, monkeypatch):
    (tmp_path / "mas.toml").write_text('model = "scripted:here"\n')
    monkeypatch.chdir(tmp_path)

    assert read_eval_config(None, given={"systems": ["cot"]}).model == "scripted:here"


@pytest.mark.parametrize(
    "change",
    [
        {"attempts": 3},
        {"seed": 1},
        {"systems": ("cot", "sc")},
        {"model": "scripted:b"},
        {"tasks": ("x",)},
        {"limits": {"max_calls": 1}},
        {"agents": {"SCAgent": {"samples": 2}}},
        {"judge": "scripted:j"},
    ],
)
def test_what_would_be_measured_differently_is_named(change):
    asked = EvalConfig(**{**config_of("cot").model_dump(), **change})

    (difference,) = differences(config_of("cot"), asked)

    assert difference.startswith(f"{next(iter(change))}: stored ")


@pytest.mark.parametrize(
    "change",
    [
        {"concurrency": 9},
        {"cache": "folder"},
        {"caps": {"max_calls": 1}},
        {"endpoints": {"http://x": {"concurrency": 1}}},
        {"stop_after_errors": 3},
    ],
)
def test_how_a_run_is_run_may_differ(change):
    assert differences(config_of("cot"), config_of("cot", **change)) == []
    assert set(change) <= OPERATIONAL


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_recipes_are_configurations(recipe):
    config = read_eval_config(recipe, base=recipe)

    assert config.name == recipe.stem
    assert config.systems
    assert config.tasks


def test_there_are_recipes():
    assert [path.stem for path in RECIPES] == ["demo", "masbench-full", "masbench-quick", "paper-main-table"]
