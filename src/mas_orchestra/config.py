"""Settings of every command: one frozen value read from ``mas.toml`` and ``--set a.b=c``.

Whatever is wrong is reported with its place, what was found and what is accepted. Secrets are never settings: the file
names the environment variable that holds one.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias, TypeGuard, TypeVar, get_args
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from mas_orchestra.errors import ConfigError, nearest
from mas_orchestra.types import JsonValue

__all__ = [
    "CONFIG_FILE",
    "EndpointSettings",
    "LocalSettings",
    "MenuModel",
    "Price",
    "Section",
    "Settings",
    "load_settings",
    "normal_base_url",
    "read_config",
    "read_settings",
    "read_toml",
]

CONFIG_FILE = "mas.toml"
CONFIG_VARIABLE = "MAS_CONFIG"

OVERRIDE = re.compile(r'((?:"[^"]*"|[^"=])+)=(.*)')

Config = TypeVar("Config", bound=BaseModel)
Tree: TypeAlias = dict[str, JsonValue]
Places: TypeAlias = dict[tuple[str, ...], str]
"""Which file or option set what lies at a path."""


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


def load_settings(
    path: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    environ: Mapping[str, str] = os.environ,
    folder: Path | None = None,
) -> Settings:
    """The settings of a command: defaults, then the file, then ``--set`` options.

    Args:
        path: The file of ``--config``. Otherwise the one that ``MAS_CONFIG`` names, otherwise ``mas.toml`` in `folder`
            if there is one.
        overrides: Texts such as ``local.slots=8``; the value is TOML, a bare word is taken as a string.
        environ: Environment variables.
        folder: Where to look for ``mas.toml``; the current one by default.

    Raises:
        ConfigError: A missing or unreadable file, an unknown key, a value of the wrong type.
    """
    file = path or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    default = (folder or Path.cwd()) / CONFIG_FILE
    if file is None and default.is_file():
        file = default
    return read_settings(read_toml(file) if file else {}, overrides, place=str(file or CONFIG_FILE))


def read_settings(tree: Mapping[str, JsonValue], overrides: Sequence[str] = (), *, place: str) -> Settings:
    """Settings from values already read; see `read_config`."""
    return read_config(Settings, tree, overrides, place=place)


def read_config(
    kind: type[Config], tree: Mapping[str, JsonValue], overrides: Sequence[str] = (), *, place: str
) -> Config:
    """A configuration of any kind from values already read.

    Args:
        kind: Its model; tables in it are models too, or mappings of models.
        tree: What the file says.
        overrides: As in `load_settings`.
        place: Name of the file, for messages.

    Raises:
        ConfigError: An unknown key or a value of the wrong type.
    """
    merged, places = dict(tree), Places()
    for text in overrides:
        keys, value = _read_override(text)
        _put(merged, keys, value, text)
        places[keys] = f"--set {text.partition('=')[0].strip()}"
    try:
        return kind.model_validate(merged)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(kind, problem, places, place) for problem in error.errors())) from None


def read_toml(file: Path) -> Tree:
    """What a TOML file says.

    Raises:
        ConfigError: It cannot be read, or is not TOML; says where.
    """
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: is not TOML: {error}") from None


def _read_override(text: str) -> tuple[tuple[str, ...], JsonValue]:
    """Path and value of one ``a.b=c``; TOML reads both, so quoted keys and lists work as in the file."""
    match = OVERRIDE.fullmatch(text)
    try:
        node: JsonValue = tomllib.loads(f"{match[1]} = 0") if match else None
    except tomllib.TOMLDecodeError:
        node = None
    if match is None or node is None:
        raise ConfigError(f"--set {text!r}: expected NAME=VALUE, as in --set local.slots=8") from None
    path: list[str] = []
    while isinstance(node, dict):
        name, node = next(iter(node.items()))
        path.append(name)
    return tuple(path), _read_value(match[2])


def _read_value(text: str) -> JsonValue:
    try:
        value: JsonValue = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text.strip()
    return value


def _put(tree: Tree, keys: tuple[str, ...], value: JsonValue, text: str) -> None:
    """Set one leaf; tables on the way are copied, so the caller's stay as they are."""
    for name in keys[:-1]:
        inner = tree.get(name, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set {text!r}: {name!r} is a value, not a table")
        tree[name] = inner = dict(inner)
        tree = inner
    tree[keys[-1]] = value


def _explain(kind: type[BaseModel], problem: ErrorDetails, places: Places, file: str) -> str:
    """One line for one fault: place, what was got, what is accepted."""
    path = tuple(str(part) for part in problem["loc"])
    prefixes = (path[:length] for length in range(len(path), 0, -1))
    place = next((places[prefix] for prefix in prefixes if prefix in places), file)
    where = f"{place}: {'.'.join(path)}"
    if problem["type"] == "extra_forbidden":
        known = _keys_at(kind, path[:-1])
        close = nearest(path[-1], known)
        return f"{where}: unknown key.{f' Did you mean {close!r}?' if close else ''} Known: {', '.join(known)}."
    got = problem["input"]
    shown = type(got).__name__ if "headers" in path or isinstance(got, (dict, list)) else repr(got)
    return f"{where}: got {shown}; {problem['msg'][0].lower()}{problem['msg'][1:]}."


def _keys_at(kind: type[BaseModel], path: tuple[str, ...]) -> Iterable[str]:
    """The keys that are accepted in the table at `path`; tables with names of the user's own are passed over."""
    for name in path:
        field = kind.model_fields.get(name)
        if field is not None:
            kind = next((part for part in _parts(field.annotation) if _is_model(part)), kind)
    return sorted(kind.model_fields)


def _parts(annotation: object) -> list[object]:
    """A type and all types that it is made of."""
    return [annotation, *(part for inner in get_args(annotation) for part in _parts(inner))]


def _is_model(part: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(part, type) and issubclass(part, BaseModel)
