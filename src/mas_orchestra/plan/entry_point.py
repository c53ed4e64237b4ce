"""Loading a sub-agent that a package offers by entry point."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint

from mas_orchestra.errors import ConfigError, MasError

__all__ = ["load_agent"]

_NO_OPTIONS: Mapping[str, object] = {}


def load_agent(point: EntryPoint, options: Mapping[str, object] = _NO_OPTIONS) -> object:
    """What the entry point names: a sub-agent, or a class or function that makes one when called with the options.

    Raises:
        ConfigError: It cannot be imported or made, is no sub-agent, or has another name than the entry point.
    """
    agent = _loaded(point, options)
    card_name = getattr(getattr(agent, "card", None), "name", None)
    if card_name is None or not callable(getattr(agent, "run", None)):
        kind = type(agent).__name__
        raise ConfigError(f"{_of(point)} ({point.value}) is of type {kind}; a sub-agent has a card and a method run")
    if card_name != point.name:
        raise ConfigError(f"{_of(point)} holds a sub-agent named {card_name!r}; give both the same name")
    return agent


def _loaded(point: EntryPoint, options: Mapping[str, object]) -> object:
    try:
        found = point.load()
        made = found(**options) if callable(found) else found
    except MasError:
        raise
    except Exception as error:  # boundary: importing anybody's package
        reason = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{_of(point)} cannot be loaded: {reason}; fix or uninstall that package") from error
    if options and made is found:
        raise ConfigError(f"{_of(point)} takes no options; got {', '.join(options)}")
    return made


def _of(point: EntryPoint) -> str:
    package = f" of package {point.dist.name!r}" if point.dist else ""
    return f"sub-agent {point.name!r}{package}"
