"""From a model's URI to the model.

Schemes whose models stand above this package, or in another one, are found through the entry-point group
``mas_orchestra.models``: a function that takes what stands behind the colon, and the settings.
"""

import os
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from mas_orchestra.config import Settings
from mas_orchestra.errors import UnknownNameError, UsageError
from mas_orchestra.models.base import ChatModel
from mas_orchestra.models.keys import default_base_url
from mas_orchestra.models.scripted import ScriptedModel

__all__ = ["ENTRY_POINT_GROUP", "SCHEMES", "open_model"]

ENTRY_POINT_GROUP = "mas_orchestra.models"


SCHEMES: Mapping[str, str] = {
    "openai": "openai:NAME[@BASE_URL]    any OpenAI-compatible endpoint, as openai:gpt-4.1-mini@http://localhost:8000/v1",
    "local": "local:NAME|PATH.gguf      the embedded model, as local:smollm2-135m",
    "sim": "sim:PROFILE[?seed=N]      a simulated model for MASBENCH texts, as sim:weak; see: mas sim profiles",
    "scripted": "scripted:FILE             replies from a TOML or JSON file",
}
"""What a URI may begin with, each with its form."""


def open_model(uri: str, settings: Settings, *, environ: Mapping[str, str] = os.environ) -> ChatModel:
    """The model that a URI names. Nothing is connected or loaded before the first call.

    Raises:
        UsageError: The URI is none, or its scheme is unknown; a file or a setting that it needs is wrong.
    """
    scheme, colon, rest = uri.partition(":")
    if not colon or not rest:
        forms = "\n  ".join(SCHEMES.values())
        raise UsageError(f"{uri!r} is no model URI. Known forms:\n  {forms}")
    match scheme:
        case "openai":
            from mas_orchestra.models.openai_compatible import OpenAICompatibleModel

            name, base_url = _split_openai(uri, rest)
            return OpenAICompatibleModel(name, base_url or default_base_url(environ), settings, environ=environ)
        case "local":
            from mas_orchestra.models.local import LocalModel

            return LocalModel.open(rest, settings)
        case "scripted":
            return ScriptedModel.open(Path(rest))
        case _:
            return _opener(scheme)(rest, settings)


def _opener(scheme: str) -> Callable[[str, Settings], ChatModel]:
    """What an installed package opens models of this scheme with.

    Raises:
        UnknownNameError: None does.
        UsageError: The package that should is broken.
    """
    points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if scheme not in points:
        raise UnknownNameError("model scheme", scheme, {*SCHEMES, *points})
    point = points[scheme]
    try:
        opener = point.load()
    except Exception as error:  # boundary: importing anybody's package
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"models of scheme {scheme!r} cannot be opened: {reason}; fix or uninstall it") from error
    if not callable(opener):
        raise UsageError(f"models of scheme {scheme!r} cannot be opened: {point.value} is no function")
    return cast("Callable[[str, Settings], ChatModel]", opener)


def _split_openai(uri: str, rest: str) -> tuple[str, str]:
    """Name and base URL (empty for the default) of an ``openai:`` URI; names may hold ``@`` and ``/``."""
    at = max(rest.rfind("@http://"), rest.rfind("@https://"))
    if at >= 0:
        name, base_url = rest[:at], rest[at + 1 :]
    else:
        name, base_url = rest, ""
        before, _, host = rest.rpartition("@")
        if before and (":" in host or "/" in host):
            raise UsageError(f"{uri!r}: the base URL needs its scheme: openai:{before}@http://{host}")
    if not name:
        raise UsageError(f"{uri!r}: the model's name is missing before '@'")
    return name, base_url
