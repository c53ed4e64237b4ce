"""Every setting there is: set by ``--set`` and by a file, read back the same, refused when its type is wrong."""

import json
from itertools import pairwise
from types import UnionType
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.config import (
    EndpointSettings,
    LocalSettings,
    MenuModel,
    Price,
    Settings,
    load_settings,
    read_settings,
)
from mas_orchestra.errors import ConfigError

TABLES = {
    'endpoints."http://h/v1"': EndpointSettings,
    "prices.small": Price,
    "menu.cheap": MenuModel,
    "local": LocalSettings,
}
"""Where each kind of table stands."""

REQUIRED = {"prices.small": {"input": 1.0, "output": 2.0}, "menu.cheap": {"model": "openai:small"}}
"""What a table must say besides."""


def inner(annotation):
    """The plain types of a field, ``None`` aside."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    return [part for part in parts if part is not type(None)]


def example(annotation):
    """A value of a field that is none of its defaults."""
    return {bool: False, int: 257, float: 0.25, str: "openai:some"}[inner(annotation)[0]]


def toml(value):
    return json.dumps(value)


def fields():
    """Each plain setting: its path, its table's path, its name and its type."""
    for name, field in Settings.model_fields.items():
        if inner(field.annotation) == [str]:
            yield pytest.param(name, "", name, field.annotation, id=name)
    for table, kind in TABLES.items():
        for name, field in kind.model_fields.items():
            if inner(field.annotation)[0] in {bool, int, float, str}:
                yield pytest.param(f"{table}.{name}", table, name, field.annotation, id=f"{table}.{name}")


def table_of(settings, table):
    match table:
        case "":
            return settings
        case "local":
            return settings.local
        case 'endpoints."http://h/v1"':
            return settings.endpoint("http://h/v1")
        case _:
            kind, name = table.split(".")
            return getattr(settings, kind)[name]


def overrides(path, table, value):
    needed = [f"{table}.{name}={toml(other)}" for name, other in REQUIRED.get(table, {}).items()]
    return [*needed, f"{path}={toml(value)}"]


@pytest.mark.parametrize(("path", "table", "name", "annotation"), list(fields()))
class TestEveryField:
    def test_an_option_sets_it_and_nothing_else(self, path, table, name, annotation):
        value = example(annotation)
        settings = read_settings({}, overrides(path, table, value), place="mas.toml")
        found = table_of(settings, table)
        assert getattr(found, name) == value
        others = set(type(found).model_fields) - {name, *REQUIRED.get(table, {})}
        defaults = type(found).model_validate(REQUIRED.get(table, {}))
        assert {other: getattr(found, other) for other in others} == {
            other: getattr(defaults, other) for other in others
        }

    def test_a_file_sets_it_to_the_same(self, path, table, name, annotation, tmp_path):
        file = tmp_path / "mas.toml"
        needed = {other: value for other, value in REQUIRED.get(table, {}).items() if other != name}
        lines = [f"{path} = {toml(example(annotation))}", *(f"{table}.{o} = {toml(v)}" for o, v in needed.items())]
        file.write_text("\n".join(lines))
        assert getattr(table_of(load_settings(file, environ={}), table), name) == example(annotation)

    def test_an_option_wins_over_the_file(self, path, table, name, annotation, tmp_path):
        file = tmp_path / "mas.toml"
        needed = {other: value for other, value in REQUIRED.get(table, {}).items() if other != name}
        first = {bool: True, int: 300, float: 0.5, str: "openai:other"}[inner(annotation)[0]]
        file.write_text(
            "\n".join([f"{path} = {toml(first)}", *(f"{table}.{o} = {toml(v)}" for o, v in needed.items())])
        )
        settings = load_settings(file, [f"{path}={toml(example(annotation))}"], environ={})
        assert getattr(table_of(settings, table), name) == example(annotation)

    @pytest.mark.parametrize("wrong", [[1], {"a": 1}], ids=["list", "table"])
    def test_another_type_is_refused_with_its_place(self, path, table, name, annotation, wrong):
        text = f"{path}=[1]" if isinstance(wrong, list) else f"{path}={{a = 1}}"
        with pytest.raises(ConfigError) as caught:
            read_settings({}, [*overrides(path, table, example(annotation)), text], place="mas.toml")
        message = str(caught.value)
        assert f"--set {path}: " in message
        assert name in message
        assert "input should be a valid" in message

    def test_numbers_and_texts_are_not_converted_into_each_other(self, path, table, name, annotation):
        """``samples = "5"`` is a mistake of somebody, and guessing hides it."""
        wrong = 5 if inner(annotation)[0] is str else "5"
        with pytest.raises(ConfigError, match="input should be a valid"):
            read_settings({}, overrides(path, table, wrong), place="mas.toml")

    @pytest.mark.parametrize("typing_error", ["dropped", "doubled", "upper"])
    def test_a_misspelt_name_is_answered_with_the_right_one(self, path, table, name, annotation, typing_error):
        wrong = {"dropped": name[:-1], "doubled": name + name[-1], "upper": name.upper()}[typing_error]
        prefix = f"{table}." if table else ""
        with pytest.raises(ConfigError) as caught:
            read_settings({}, [*overrides(path, table, example(annotation)), f"{prefix}{wrong}=1"], place="")
        assert f"unknown key. Did you mean {name!r}?" in str(caught.value)

    def test_it_is_explained_where_it_is_declared(self, path, table, name, annotation):
        """The reference of the settings is made from these words."""
        assert name in (TABLES.get(table, Settings).__doc__ or "")


def numbers():
    for table, kind in TABLES.items():
        for name, field in kind.model_fields.items():
            if inner(field.annotation)[0] in {int, float}:
                yield pytest.param(f"{table}.{name}", table, id=f"{table}.{name}")


@pytest.mark.parametrize(("path", "table"), list(numbers()))
@pytest.mark.parametrize("value", ["-1", "nan", "inf", "-inf", "true", "1e400"])
def test_what_is_no_amount_is_refused(path, table, value):
    """No setting counts anything that can be negative, infinite or no number at all."""
    needed = [f"{table}.{name}={toml(other)}" for name, other in REQUIRED.get(table, {}).items()]
    with pytest.raises(ConfigError, match="input should be"):
        read_settings({}, [*needed, f"{path}={value}"], place="mas.toml")


@pytest.mark.parametrize("kind", [*TABLES.values(), Settings], ids=lambda kind: kind.__name__)
def test_settings_are_frozen_and_closed(kind):
    assert kind.model_config["frozen"]
    assert kind.model_config["extra"] == "forbid"


keys = st.text(alphabet="abcdefghij_-", min_size=1, max_size=8)
values = st.integers(-(2**31), 2**31) | st.booleans() | st.text(alphabet="abc é\"'\\=.#", max_size=8)


@given(st.dictionaries(keys, values, max_size=5))
def test_options_of_a_sub_agent_come_through_whatever_their_names_and_values(options):
    """They are checked by the sub-agent; here nothing is changed on the way."""
    texts = [f"agents.SCAgent.{key}={toml(value)}" for key, value in options.items()]
    assert read_settings({}, texts, place="").agents.get("SCAgent", {}) == options


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=6))
def test_of_several_options_the_last_one_holds_whatever_their_order(slots):
    for _, last in pairwise(slots):
        assert read_settings({}, [f"local.slots={slots[0]}", f"local.slots={last}"], place="").local.slots == last


@given(st.text(alphabet="abc:/.@-_ ", min_size=1, max_size=20))
def test_a_bare_word_is_a_text(word):
    """``--set model=openai:small`` needs no quotes in a shell."""
    found = read_settings({}, [f"model={word}"], place="").model if word.strip() else word.strip()
    assert found == word.strip()
