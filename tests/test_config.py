"""Settings from file and options, and what is said about wrong ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mas_orchestra.config import EndpointSettings, Settings, load_settings, normal_base_url, read_settings
from mas_orchestra.errors import ConfigError

FILE = """
model = "openai:small@http://localhost:8000/v1"

[endpoints."http://LOCALHOST:8000/v1/"]
concurrency = 16
request_timeout_s = 20
headers = { X-Team = "env:TEAM" }

[prices.small]
input = 0.1
output = 0.4

[agents.SCAgent]
samples = 3

[local]
slots = 8
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mas.toml"
    path.write_text(FILE)
    return path


def read_or_message(text):
    try:
        return read_settings({}, [text], place="mas.toml")
    except ConfigError as error:
        return str(error)


class TestLoading:
    def test_everything_that_the_file_says(self, file):
        settings = load_settings(file, environ={})
        assert settings.model == "openai:small@http://localhost:8000/v1"
        assert settings.endpoint("http://localhost:8000/v1").concurrency == 16
        assert settings.prices["small"].output == 0.4
        assert settings.agents == {"SCAgent": {"samples": 3}}
        assert settings.local.slots == 8

    def test_the_option_wins_over_the_variable_and_the_variable_over_the_folder(self, file, tmp_path):
        other = tmp_path / "other.toml"
        other.write_text("[local]\nslots = 2\n")
        named = tmp_path / "named.toml"
        named.write_text("[local]\nslots = 1\n")
        environ = {"MAS_CONFIG": str(other)}
        assert load_settings(named, environ=environ, folder=tmp_path).local.slots == 1
        assert load_settings(environ=environ, folder=tmp_path).local.slots == 2
        assert load_settings(environ={}, folder=tmp_path).local.slots == 8

    def test_without_a_file_there_are_defaults(self, tmp_path):
        assert load_settings(environ={}, folder=tmp_path) == Settings()

    def test_a_named_file_must_be_there(self, tmp_path):
        with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
            load_settings(tmp_path / "none.toml", environ={})

    @pytest.mark.parametrize(("data", "words"), [(b"a = ", "is not TOML"), (b"a = '\xff'", "is not UTF-8")])
    def test_a_broken_file_says_how(self, tmp_path, data, words):
        path = tmp_path / "mas.toml"
        path.write_bytes(data)
        with pytest.raises(ConfigError, match=words):
            load_settings(path, environ={})

    def test_an_unlisted_endpoint_has_the_defaults(self):
        assert Settings().endpoint("http://other/v1") == EndpointSettings()

    def test_settings_cannot_be_changed(self):
        with pytest.raises(ValueError, match="frozen"):
            Settings().model = "x"

    def test_headers_are_not_shown(self, file):
        assert "TEAM" not in repr(load_settings(file, environ={}))


class TestOverrides:
    def test_values_are_toml_and_bare_words_are_texts(self):
        overrides = [
            "local.slots=3",
            "model=openai:gpt-4.1-mini",
            "agents.SCAgent.temperature = 0.5",
            'agents.DebateAgent.roles=["A", "B"]',
            "agents.SCAgent.early_stop=true",
            "prices.m={input = 1, output = 2}",
        ]
        settings = read_settings({}, overrides, place="mas.toml")
        assert settings.local.slots == 3
        assert settings.model == "openai:gpt-4.1-mini"
        assert settings.agents == {
            "SCAgent": {"temperature": 0.5, "early_stop": True},
            "DebateAgent": {"roles": ["A", "B"]},
        }
        assert settings.prices["m"].output == 2

    def test_a_quoted_key_may_hold_dots_and_equals_signs(self):
        text = 'endpoints."http://host/v1?api-version=1".max_retries=0'
        settings = read_settings({}, [text], place="mas.toml")
        assert settings.endpoint("http://host/v1?api-version=1").max_retries == 0

    def test_an_endpoint_of_the_file_keeps_its_other_options(self, file):
        settings = load_settings(file, ['endpoints."http://localhost:8000/v1".max_retries=1'], environ={})
        options = settings.endpoint("http://localhost:8000/v1")
        assert (options.concurrency, options.max_retries) == (16, 1)

    def test_the_last_one_wins(self):
        assert read_settings({}, ["local.slots=3", "local.slots=5"], place="").local.slots == 5

    def test_the_values_given_are_not_touched(self):
        tree = {"local": {"slots": 2}}
        read_settings(tree, ["local.slots=5"], place="")
        assert tree == {"local": {"slots": 2}}

    @pytest.mark.parametrize("text", ["", "=", "slots", "=3", "a b=3", "a.=3", "a\nb=3", '"a=3'])
    def test_what_is_no_assignment_says_what_one_looks_like(self, text):
        with pytest.raises(ConfigError, match=r"as in --set local\.slots=8"):
            read_settings({}, [text], place="")

    def test_a_value_is_no_table(self):
        with pytest.raises(ConfigError, match="'model' is a value, not a table"):
            read_settings({"model": "x"}, ["model.name=3"], place="")

    @given(st.text(max_size=40))
    def test_any_text_is_either_read_or_refused(self, text):
        assert read_or_message(text)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"locl": {}}, "mas.toml: locl: unknown key. Did you mean 'local'?"),
        ({"local": {"slot": 3}}, "mas.toml: local.slot: unknown key. Did you mean 'slots'?"),
        ({"prices": {"m": {"input": 1, "output": 2, "cached": 1}}}, "mas.toml: prices.m.cached: unknown key."),
        ({"local": {"slots": "many"}}, "mas.toml: local.slots: got 'many'; input should be a valid integer."),
        ({"local": {"slots": 0}}, "mas.toml: local.slots: got 0; input should be greater than or equal to 1."),
        ({"local": {"slots": True}}, "mas.toml: local.slots: got True; input should be a valid integer."),
        ({"prices": {"m": {"input": -1, "output": 1}}}, "mas.toml: prices.m.input: got -1; input should be greater"),
        ({"endpoints": {"localhost": {}}}, "mas.toml: endpoints: got dict; value error, 'localhost' is no base URL"),
        ({"agents": {"SCAgent": 3}}, "mas.toml: agents.SCAgent: got 3; input should be a valid dictionary."),
    ],
)
def test_a_wrong_setting_says_where_what_and_what_is_accepted(tree, message):
    with pytest.raises(ConfigError) as caught:
        read_settings(tree, place="mas.toml")
    assert message in str(caught.value)


def test_a_wrong_endpoint_option_names_its_place():
    with pytest.raises(
        ConfigError, match=r"endpoints\.http://h/v1\.concurency: unknown key\. Did you mean 'concurrency'"
    ):
        read_settings({"endpoints": {"http://h/v1": {"concurency": 3}}}, place="mas.toml")


def test_a_wrong_option_of_the_command_line_names_itself():
    with pytest.raises(ConfigError, match=r"^--set local\.slot: local\.slot: unknown key"):
        read_settings({}, ["local.slot=3"], place="mas.toml")


def test_every_fault_is_listed():
    with pytest.raises(ConfigError) as caught:
        read_settings({"locl": 1, "local": {"slots": 0}}, place="mas.toml")
    assert len(str(caught.value).splitlines()) == 2


def test_a_wrong_header_is_not_shown():
    with pytest.raises(ConfigError) as caught:
        read_settings({"endpoints": {"http://h/v1": {"headers": {"X-Key": 12345678}}}}, place="mas.toml")
    assert "12345678" not in str(caught.value)


class TestBaseUrl:
    @pytest.mark.parametrize(
        ("given", "normal"),
        [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            (" HTTPS://API.OpenAI.com/v1/ ", "https://api.openai.com/v1"),
            ("http://localhost:8000", "http://localhost:8000"),
            ("http://h/V1/chat/completions", "http://h/V1"),
            ("http://h/v1?api-version=2", "http://h/v1?api-version=2"),
        ],
    )
    def test_one_endpoint_has_one_spelling(self, given, normal):
        assert normal_base_url(given) == normal
        assert normal_base_url(normal) == normal

    @pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://h/v1", "file:///etc", "http://"])
    def test_what_is_no_base_url_is_refused(self, url):
        with pytest.raises(ValueError, match="no base URL"):
            normal_base_url(url)

    @pytest.mark.parametrize(
        "url", ["http://me:hunter2@h/v1", "http://h/v1?key=hunter2", "http://h/v1?a=1&API_KEY=hunter2"]
    )
    def test_a_secret_in_it_is_refused_and_not_repeated(self, url):
        with pytest.raises(ValueError, match="holds a secret") as caught:
            normal_base_url(url)
        assert "hunter2" not in str(caught.value)


class TestModelsOfTheirOwn:
    TREE = {  # noqa: RUF012  (never changed)
        "agents": {"SCAgent": {"model": "openai:small", "samples": 3}, "CoTAgent": {"temperature": 0.1}},
        "menu": {"cheap": {"model": "openai:small", "good_at": "drafts"}, "strong": {"model": "openai:large"}},
    }

    def test_a_sub_agents_model_is_none_of_its_own_options(self):
        settings = read_settings(self.TREE, place="mas.toml")
        assert settings.agent_models == {"SCAgent": "openai:small"}
        assert settings.agent_options == {"SCAgent": {"samples": 3}, "CoTAgent": {"temperature": 0.1}}

    def test_a_menu_names_models_and_what_they_are_for(self):
        menu = read_settings(self.TREE, ["menu.cheap.model=local:smollm2-135m"], place="mas.toml").menu
        assert [(name, entry.model, entry.good_at) for name, entry in menu.items()] == [
            ("cheap", "local:smollm2-135m", "drafts"),
            ("strong", "openai:large", ""),
        ]

    @pytest.mark.parametrize(
        ("tree", "words"),
        [
            ({"menu": {"cheap": {"good_at": "x"}}}, "menu.cheap.model"),
            ({"menu": {"cheap": {"model": "x", "goodat": "x"}}}, "Did you mean 'good_at'"),
            ({"menu": {"cheap": "openai:small"}}, "menu.cheap"),
        ],
    )
    def test_a_wrong_entry_says_where(self, tree, words):
        with pytest.raises(ConfigError, match=words):
            read_settings(tree, place="mas.toml")

    def test_a_model_that_is_no_text_says_where(self):
        with pytest.raises(ConfigError, match=r"agents\.SCAgent\.model: got 7"):
            _ = read_settings({"agents": {"SCAgent": {"model": 7}}}, place="mas.toml").agent_models
