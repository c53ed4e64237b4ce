"""Chat models behind one protocol: endpoints, the embedded model, the shipped fake.

Read `base` first (what a model is), then `uri` (how one is named), `scripted` with `script` (the simplest one),
`openai_compatible` with `call` (endpoints), `limits` with `window` (who waits), `cache` and `pricing`; `request`,
`reply`, `stream`, `failures` and `transport` are the wire. Names from here are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from mas_orchestra.models.base import (
    Abilities,
    ChatModel,
    Choice,
    Completion,
    FinishReason,
    Params,
    QueueWatch,
)

if TYPE_CHECKING:
    from mas_orchestra.models.cache import CachedModel
    from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
    from mas_orchestra.models.script import Rule, Script, ScriptedReply, ScriptedToolCall, ScriptedUsage
    from mas_orchestra.models.scripted import ScriptedModel
    from mas_orchestra.models.uri import open_model

__all__ = [
    "Abilities",
    "CachedModel",
    "ChatModel",
    "Choice",
    "Completion",
    "FinishReason",
    "OpenAICompatibleModel",
    "Params",
    "QueueWatch",
    "Rule",
    "Script",
    "ScriptedModel",
    "ScriptedReply",
    "ScriptedToolCall",
    "ScriptedUsage",
    "open_model",
]

# aiohttp alone would cost every importer of a type from here a tenth of a second.
_HOMES = {
    "CachedModel": "cache",
    "OpenAICompatibleModel": "openai_compatible",
    "Rule": "script",
    "Script": "script",
    "ScriptedModel": "scripted",
    "ScriptedReply": "script",
    "ScriptedToolCall": "script",
    "ScriptedUsage": "script",
    "open_model": "uri",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
