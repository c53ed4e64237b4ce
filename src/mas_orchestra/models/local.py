"""The embedded model: any GGUF file, served by llama.cpp on this machine and called through its OpenAI-compatible API.

The HTTP side is `OpenAICompatibleModel` as for any endpoint, so that limits, retries, structured output, tools and
typed failures are the same, and dropping the connection stops the decoding.
"""

import asyncio
import importlib.util
from dataclasses import replace
from pathlib import Path

from mas_orchestra.config import EndpointSettings, LocalSettings, Settings
from mas_orchestra.errors import CallError, EndpointError, MissingExtraError, ModelLoadError
from mas_orchestra.models.base import Abilities, Completion, Params, QueueWatch
from mas_orchestra.models.cores import default_threads
from mas_orchestra.models.llama_server import LlamaServer, ServerPool, ServerSettings
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.models.weights import EMBEDDED, weights_of
from mas_orchestra.types import Message, Usage

__all__ = ["LocalModel"]

SMALL_MAX_TOKENS = 256
"""Of a small model where a call sets no limit: one that begins to repeat itself goes on until it is cut off."""
REPLY_TIMEOUT_S = 1_800.0
"""Longest silence until a reply: a slow machine is slow, and a server that died is noticed at once."""
KEY_VARIABLE = "LLAMA_SERVER_KEY"

_POOL = ServerPool()  # one a process: models opened anywhere share the process that serves their file


class LocalModel:
    """A `ChatModel` that runs on this machine. Nothing is started or loaded before the first call.

    Args:
        uri: Names the model in traces and cache keys.
        settings: What is served, and with how much of the machine.
        is_small: See `Abilities.small`.
        pool: Where servers are shared.
    """

    def __init__(self, uri: str, settings: ServerSettings, *, is_small: bool = False, pool: ServerPool = _POOL) -> None:
        self._uri = uri
        self._settings = settings
        self._pool = pool
        self._is_small = is_small
        self._clients: dict[LlamaServer, OpenAICompatibleModel] = {}

    @classmethod
    def open(cls, spec: str, settings: Settings, *, folder: Path | None = None) -> "LocalModel":
        """The model that ``local:`` followed by `spec` names.

        Args:
            spec: The name of an embedded model, or the path of a GGUF file.
            settings: Its ``[local]`` table is used.
            folder: Where fetched weights are; the user's cache by default.

        Raises:
            MissingExtraError: llama.cpp is not installed.
            UnknownNameError, ConfigError: See `mas_orchestra.models.weights.weights_of`.
        """
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtraError(f"local:{spec}", "local")
        path = weights_of(spec, folder)
        embedded = spec in EMBEDDED
        server = _server_settings(path, settings.local)
        return cls(f"local:{spec if embedded else path}", server, is_small=embedded)

    @property
    def uri(self) -> str:
        """``local:NAME``, or ``local:`` and the absolute path, since a relative one names different files."""
        return self._uri

    @property
    def abilities(self) -> Abilities:
        """llama.cpp enforces JSON schemas; several samples are several requests, since it bills only one of `n`."""
        return Abilities(
            tools=True,
            json_schema=True,
            native_n=False,
            context_tokens=self._settings.context_tokens,
            small=self._is_small,
        )

    def cost_usd(self, usage: Usage) -> float:  # noqa: ARG002  (whatever was used)
        """Nothing is billed."""
        return 0.0

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One reply with ``params.n`` choices; a small model's ends after `SMALL_MAX_TOKENS` where none are given.

        Raises:
            ModelLoadError: The model cannot be loaded, or its process ended during the call.
            CallError: As of any endpoint.
        """
        if params.max_tokens is None and self._is_small:
            params = replace(params, max_tokens=SMALL_MAX_TOKENS)
        server = await asyncio.to_thread(self._running)
        if server not in self._clients:
            self._clients[server] = _client(self._uri, server, self._settings.slots)
        client = self._clients[server]
        try:
            completion = await client.complete(messages, params, queue=queue)
        except EndpointError as error:
            if server.is_alive:
                raise _renamed(error, client.uri, self._uri) from None
            reason = await asyncio.to_thread(server.why_it_ended)
            raise ModelLoadError(
                f"{self._uri}: its process ended: {reason}", endpoint=self._uri, requests=error.requests
            ) from None
        except CallError as error:
            raise _renamed(error, client.uri, self._uri) from None
        return replace(completion, model=self._uri)

    async def close(self) -> None:
        """Close the connections; the last user of the server stops it."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.close()
        await asyncio.to_thread(self._pool.leave, self._settings, self)

    def _running(self) -> LlamaServer:
        try:
            return self._pool.running(self._settings, self)
        except ModelLoadError as error:
            raise ModelLoadError(f"{self._uri}: {error}", endpoint=self._uri, requests=0) from None


def _server_settings(path: Path, local: LocalSettings) -> ServerSettings:
    return ServerSettings(
        path=path,
        slots=local.slots,
        threads=local.threads or default_threads(),
        context_tokens=local.context_tokens,
    )


def _client(uri: str, server: LlamaServer, slots: int) -> OpenAICompatibleModel:
    options = EndpointSettings(
        api_key_env=KEY_VARIABLE,
        concurrency=slots,  # what waits for a slot waits in our queue, where no step's time-out runs
        native_n=False,
        max_retries=1,
        request_timeout_s=REPLY_TIMEOUT_S,
    )
    settings = Settings(endpoints={server.base_url: options})
    return OpenAICompatibleModel(uri, server.base_url, settings, environ={KEY_VARIABLE: server.api_key})


def _renamed(error: CallError, name: str, uri: str) -> CallError:
    """The same error in the words of `uri`: where the server listens changes with every start."""
    text = str(error).replace(name, uri)
    return type(error)(text, endpoint=uri, status=error.status, requests=error.requests, usage=error.usage)
