"""Replies kept on disk, so that the same call is never paid for twice.

One file for each sample, named by the SHA-256 of what was asked: model URI, messages, parameters, number of the sample.
Files are written aside and renamed, so several processes may share a folder and a crash leaves nothing half-written.
"""

import hashlib
import os
import tempfile
import warnings
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from mas_orchestra.errors import FileFormatError
from mas_orchestra.models.base import (
    Abilities,
    ChatModel,
    Choice,
    Completion,
    FinishReason,
    Namespaced,
    Params,
    QueueWatch,
)
from mas_orchestra.models.request import Dialect, request_bytes
from mas_orchestra.types import Message, ToolCall, Usage

__all__ = ["CachedModel"]

FORMAT = 1
KEPT_REASONS = {FinishReason.STOP, FinishReason.TOOL_CALLS}
"""Refusals and replies that were cut off are asked for again, and so is whatever ended for a reason we do not know."""


class _Entry(BaseModel):
    """What a file holds. `sha256` is of `choice`, so that a damaged file is not mistaken for a reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int
    model: str
    choice: str
    sha256: str


class _KeptCall(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    arguments: str


class _KeptChoice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    content: str
    reasoning: str
    tool_calls: tuple[_KeptCall, ...]
    finish_reason: FinishReason


class CachedModel:
    """A `ChatModel` that answers from `folder` what another model was asked before.

    A hit is marked as cached, has no usage and costs nothing. Errors, refusals, replies that were cut off and empty
    ones are never kept. A call with several samples is answered when all of them are there.

    Args:
        model: Who is asked what is not there.
        folder: Where replies are kept.
        namespace: Replies kept under one are unknown under every other: for samples that must be independent.

    Raises:
        FileFormatError: `folder` cannot be made.
    """

    def __init__(self, model: ChatModel, folder: Path, *, namespace: str = "") -> None:
        self._model = model
        self._folder = folder
        self._namespace = namespace
        self.hits = 0
        self.misses = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileFormatError(f"cache folder {folder}: cannot be made: {error.strerror or error}") from None

    def within(self, namespace: str) -> "CachedModel":
        """The same model and folder under a namespace inside this one."""
        model = self._model.within(namespace) if isinstance(self._model, Namespaced) else self._model
        return CachedModel(model, self._folder, namespace=f"{self._namespace}/{namespace}")

    @property
    def uri(self) -> str:
        """That of the model itself."""
        return self._model.uri

    @property
    def abilities(self) -> Abilities:
        """Those of the model itself."""
        return self._model.abilities

    def cost_usd(self, usage: Usage) -> float | None:
        """Price of `usage` at the model itself; hits have none."""
        return self._model.cost_usd(usage)

    async def close(self) -> None:
        """Close the model itself."""
        await self._model.close()

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """The kept reply, or that of the model, kept for the next time.

        Raises:
            CallError: From the model itself.
        """
        files = [self._file(key) for key in _keys(self.uri, messages, params, self._namespace)]
        kept = _read_all(files)
        if kept is not None:
            self.hits += 1
            return kept
        self.misses += 1
        completion = await self._model.complete(messages, params, queue=queue)
        for file, choice in zip(files, completion.choices, strict=False):
            if choice.finish_reason in KEPT_REASONS and (choice.content.strip() or choice.tool_calls):
                _write(file, completion.model, choice)
        return completion

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"


def _keys(uri: str, messages: tuple[Message, ...], params: Params, namespace: str = "") -> list[str]:
    """Names of all samples of a call. What does not change the reply is no part of them: `n`, `stream`."""
    asked = request_bytes(uri, messages, replace(params, n=1, stream=False), Dialect())
    common = hashlib.sha256(b"%d " % FORMAT + asked)
    if namespace:
        common.update(b"@%d:" % len(namespace) + namespace.encode())
    keys: list[str] = []
    for sample in range(params.n):
        one = common.copy()
        one.update(b"#%d" % sample)
        keys.append(one.hexdigest())
    return keys


def _read_all(files: list[Path]) -> Completion | None:
    entries: list[_Entry] = []
    choices: list[Choice] = []
    for file in files:
        found = _read(file)
        if found is None:
            return None
        entries.append(found[0])
        choices.append(found[1])
    return Completion(
        choices=tuple(choices), usage=Usage(), model=entries[0].model, latency_s=0.0, requests=0, cached=True
    )


def _read(file: Path) -> tuple[_Entry, Choice] | None:
    """What a file holds, or ``None`` where there is none. A damaged one is reported, and written anew."""
    try:
        entry = _Entry.model_validate_json(file.read_bytes())
        kept = _KeptChoice.model_validate_json(entry.choice)
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        _warn(file, f"cannot be read ({type(error).__name__})")
        return None
    if entry.format != FORMAT or entry.sha256 != _checksum(entry.choice):
        _warn(file, "is damaged or of another version")
        return None
    calls = tuple(ToolCall(id=call.id, name=call.name, arguments=call.arguments) for call in kept.tool_calls)
    return entry, Choice(
        content=kept.content, reasoning=kept.reasoning, tool_calls=calls, finish_reason=kept.finish_reason
    )


def _write(file: Path, model: str, choice: Choice) -> None:
    """Keep one sample. A cache that cannot be written costs money and is no reason to lose a reply: it warns."""
    try:
        text = orjson.dumps(asdict(choice)).decode()
        entry = _Entry(format=FORMAT, model=model, choice=text, sha256=_checksum(text))
        file.parent.mkdir(exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as part:
                part.write(entry.model_dump_json().encode())
            Path(aside).replace(file)
        except BaseException:
            with suppress(OSError):
                Path(aside).unlink()
            raise
    except (OSError, orjson.JSONEncodeError) as error:
        _warn(file, f"cannot be written ({error})")


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _warn(file: Path, what: str) -> None:
    warnings.warn(f"cache file {file} {what}; the model is asked again", RuntimeWarning, stacklevel=3)
