"""Which key goes where; above all, where it does not."""

import pytest

from mas_orchestra.config import EndpointSettings
from mas_orchestra.errors import ConfigError
from mas_orchestra.models.keys import OPENAI_BASE_URL, PROVIDER_KEYS, default_base_url, find_credentials

ALL_KEYS = {name: f"secret-of-{name}" for name in {*PROVIDER_KEYS.values(), "MAS_API_KEY"}}


def sent(base_url, environ, **options):
    return find_credentials(base_url, EndpointSettings(**options), environ).headers.get("Authorization")


@pytest.mark.parametrize(("host", "variable"), sorted(PROVIDER_KEYS.items()))
def test_a_provider_gets_its_own_key_and_no_other(host, variable):
    assert sent(f"https://{host}/v1", ALL_KEYS) == f"Bearer secret-of-{variable}"
    others = {name: key for name, key in ALL_KEYS.items() if name != variable}
    assert sent(f"https://{host}/v1", others) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1",
        "https://api.openai.com.evil.example/v1",
        "https://evil.example/api.openai.com/v1",
        "https://xapi.openai.com/v1",
    ],
)
def test_a_providers_key_never_reaches_another_host(url):
    assert sent(url, ALL_KEYS) == "Bearer secret-of-MAS_API_KEY"
    providers = {name: key for name, key in ALL_KEYS.items() if name != "MAS_API_KEY"}
    assert sent(url, providers) is None


def test_the_openai_key_follows_the_openai_base_url_of_the_environment():
    environ = {**ALL_KEYS, "OPENAI_BASE_URL": "http://gateway/v1/"}
    assert sent("http://gateway/v1", environ) == "Bearer secret-of-OPENAI_API_KEY"
    assert sent("http://gateway/other", environ) == "Bearer secret-of-MAS_API_KEY"


def test_the_settings_have_the_last_word():
    assert sent(OPENAI_BASE_URL, {**ALL_KEYS, "MINE": "mine"}, api_key_env="MINE") == "Bearer mine"
    assert sent(OPENAI_BASE_URL, ALL_KEYS, api_key_env="") is None


def test_a_named_variable_must_be_set():
    with pytest.raises(ConfigError, match="api_key_env names MINE, which is not set"):
        find_credentials(OPENAI_BASE_URL, EndpointSettings(api_key_env="MINE"), ALL_KEYS)


def test_headers_come_from_the_environment_where_they_say_so():
    options = EndpointSettings(headers={"api-key": "env:AZURE", "X-Plain": "as is"})
    found = find_credentials("http://h/v1", options, {"AZURE": "azure-secret"})
    assert found.headers == {"api-key": "azure-secret", "X-Plain": "as is"}
    assert "azure-secret" in found.secrets
    with pytest.raises(ConfigError, match=r"headers\.api-key names AZURE, which is not set"):
        find_credentials("http://h/v1", options, {})


def test_a_header_may_replace_the_authorization():
    options = EndpointSettings(headers={"Authorization": "Basic abc"})
    assert find_credentials("http://h/v1", options, ALL_KEYS).headers["Authorization"] == "Basic abc"


def test_the_source_is_told_and_the_key_is_not():
    found = find_credentials(OPENAI_BASE_URL, EndpointSettings(), ALL_KEYS)
    assert found.source == "key from OPENAI_API_KEY"
    assert "secret-of" not in repr(found)
    assert find_credentials(OPENAI_BASE_URL, EndpointSettings(), {}).source == "no key was sent; set OPENAI_API_KEY"


def test_the_default_is_openai_unless_the_environment_says_otherwise():
    assert default_base_url({}) == OPENAI_BASE_URL
    assert default_base_url({"OPENAI_BASE_URL": "http://h/v1"}) == "http://h/v1"


def test_a_line_break_at_the_end_of_a_key_is_no_part_of_it():
    assert sent(OPENAI_BASE_URL, {"OPENAI_API_KEY": " secret\n"}) == "Bearer secret"


@pytest.mark.parametrize("value", ["se\ncret", "secrét", "se\0cret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(value):
    with pytest.raises(ConfigError, match="OPENAI_API_KEY holds characters") as caught:
        sent(OPENAI_BASE_URL, {"OPENAI_API_KEY": value})
    assert "cret" not in str(caught.value)
