"""What a command can be told, with a default for each: the tables of ``mas.toml`` as frozen values."""

from collections.abc import Mapping
from typing import Annotated
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from mas_orchestra.errors import ConfigError
from mas_orchestra.types import JsonValue

__all__ = [
    "EndpointSettings",
    "LocalSettings",
    "MenuModel",
    "Price",
    "Section",
    "Settings",
    "normal_base_url",
]


def normal_base_url(url: str) -> str:
    """One spelling for one endpoint: scheme and host in lower case, no trailing slash, no ``/chat/completions``.

    Raises:
        ValueError: Not an http(s) URL, or one that carries a user name, a password or a key.

    >>> normal_base_url("HTTP://LocalHost:8000/v1/")
    'http://localhost:8000/v1'
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{url!r} is no base URL; give one as 'http://localhost:8000/v1'")
    names = {name.partition("=")[0].lower() for name in parts.query.split("&")}
    if "@" in parts.netloc or names & {"key", "api_key", "api-key", "apikey", "token", "access_token"}:
        raise ValueError(f"the base URL of {parts.hostname} holds a secret; put it in an environment variable instead")
    path = parts.path.rstrip("/").removesuffix("/chat/completions").rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path, parts.query, ""))


def _endpoint_keys(value: object) -> object:
    """Table names of ``[endpoints]`` in the one spelling that models are looked up by; two spellings are one table."""
    if not isinstance(value, Mapping):
        return value
    found: dict[str, object] = {}
    for url, options in value.items():
        known = found.get(name := normal_base_url(str(url)))
        found[name] = {**known, **options} if isinstance(known, dict) and isinstance(options, dict) else options
    return found


class Section(BaseModel):
    """One table of a configuration: frozen, no unknown keys, no conversions between types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class EndpointSettings(Section):
    """``[endpoints."BASE_URL"]``: how one endpoint is used.

    Attributes:
        api_key_env: Environment variable that holds the key; an empty string sends no key.
        concurrency: Most requests in flight; unset leaves only the adaptive limit and the open-file limit.
        requests_per_minute, tokens_per_minute: In no span of 60 seconds more than this.
        max_retries: Requests after the first one that a call may send when the endpoint fails.
        request_timeout_s: Longest silence in seconds: until a reply, and between two pieces of a stream.
        max_wait_s: Longest wait in seconds that a ``Retry-After`` may ask for; a longer one is an error at once.
        tools, json_schema, native_n: What the endpoint can do; ``n`` is emulated where it cannot.
        context_tokens: Window of prompt and reply together.
        headers: Sent with every request. A value ``"env:NAME"`` is read from the environment.
    """

    api_key_env: str | None = None
    concurrency: int | None = Field(default=None, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    max_retries: int = Field(default=4, ge=0)
    request_timeout_s: float = Field(default=300.0, gt=0)
    max_wait_s: float = Field(default=300.0, gt=0)
    tools: bool = True
    json_schema: bool = True
    native_n: bool = True
    context_tokens: int | None = Field(default=None, ge=1)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)


class Price(Section):
    """``[prices."NAME"]``: US dollars per million tokens.

    Attributes:
        input: Prompt tokens outside any prompt cache.
        output: Generated tokens, reasoning included.
        cache_read, cache_write: Prompt tokens read from and written to the endpoint's cache; unset costs as `input`.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


class LocalSettings(Section):
    """``[local]``: the embedded model.

    Attributes:
        slots: Sequences that are decoded at once.
        threads: Threads that compute; unset leaves one core to the rest of the machine.
        context_tokens: Window of each slot, prompt and reply together. Memory grows with slots times this.
    """

    slots: int = Field(default=4, ge=1)
    threads: int | None = Field(default=None, ge=1)
    context_tokens: int = Field(default=4096, ge=256)


class MenuModel(Section):
    """``[menu.NAME]``: a model that a plan may choose for one of its steps.

    Attributes:
        model: Its URI.
        good_at: When to choose it, in words for the orchestrator; its price is told anyhow.
    """

    model: str
    good_at: str = ""


class Settings(Section):
    """Everything that a command can be told, with a default for each.

    Attributes:
        model: URI of the sub-agents' model where no option names one.
        orchestrator: URI of the model that writes plans; unset is `model`.
        endpoints: Options by base URL.
        prices: Prices by model name, or by ``NAME@BASE_URL`` where one name costs differently somewhere.
        agents: Options of each sub-agent by its name, checked by the sub-agent itself, and its own ``model`` if any.
        menu: Models by the name under which plans may choose them.
        local: The embedded model.
    """

    model: str | None = None
    orchestrator: str | None = None
    endpoints: Annotated[dict[str, EndpointSettings], BeforeValidator(_endpoint_keys)] = Field(default_factory=dict)
    prices: dict[str, Price] = Field(default_factory=dict)
    agents: dict[str, dict[str, JsonValue]] = Field(default_factory=dict)
    menu: dict[str, MenuModel] = Field(default_factory=dict)
    local: LocalSettings = LocalSettings()

    @property
    def agent_options(self) -> dict[str, dict[str, JsonValue]]:
        """`agents` without their models: what a sub-agent itself understands."""
        return {
            name: {key: value for key, value in options.items() if key != "model"}
            for name, options in self.agents.items()
        }

    @property
    def agent_models(self) -> dict[str, str]:
        """URI of the model of each sub-agent that has one of its own.

        Raises:
            ConfigError: One of them is no text.
        """
        found: dict[str, str] = {}
        for name, options in self.agents.items():
            uri = options.get("model")
            if uri is not None and not isinstance(uri, str):
                raise ConfigError(f"agents.{name}.model: got {uri!r}; give a model's URI, as 'openai:gpt-4o-mini'")
            if uri is not None:
                found[name] = uri
        return found

    def endpoint(self, base_url: str) -> EndpointSettings:
        """Options of one endpoint; the defaults where none are written."""
        return self.endpoints.get(normal_base_url(base_url), EndpointSettings())
