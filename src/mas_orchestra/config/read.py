"""Reading a configuration from a TOML file and ``--set a.b=c``; whatever is wrong is reported with its place."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeGuard, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mas_orchestra.config.settings import Settings
from mas_orchestra.errors import ConfigError, nearest
from mas_orchestra.types import JsonValue

__all__ = ["CONFIG_FILE", "load_settings", "read_config", "read_settings", "read_toml"]

CONFIG_FILE = "mas.toml"
CONFIG_VARIABLE = "MAS_CONFIG"

OVERRIDE = re.compile(r'((?:"[^"]*"|[^"=])+)=(.*)')

Config = TypeVar("Config", bound=BaseModel)
Tree: TypeAlias = dict[str, JsonValue]
Places: TypeAlias = dict[tuple[str, ...], str]
"""Which file or option set what lies at a path."""


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
