"""llama.cpp serving one GGUF file on loopback, one process for each file however many models and loops use it."""

import atexit
import json
import secrets
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from mas_orchestra.errors import ModelLoadError

__all__ = ["LlamaServer", "ServerPool", "ServerSettings"]

WORKER = Path(__file__).with_name("llama_worker.py")
STOP_TIMEOUT_S = 5.0
SHOWN_LOG_LINES = 6
KILLED = -9
NO_MEMORY = ("insufficient memory", "failed to allocate", "out of memory", "bad_alloc")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What is served, and with how much of the machine.

    Attributes:
        slots: Sequences that are decoded at once.
        threads: Threads that compute.
        context_tokens: Window of each slot, prompt and reply together.
    """

    path: Path
    slots: int
    threads: int
    context_tokens: int


class LlamaServer:
    """A running llama.cpp process with its OpenAI-compatible API; blocks until the model is loaded.

    A process of its own, because loading holds Python's lock (seconds for larger files, every event loop stands still)
    and because an abort inside llama.cpp, or the system's out-of-memory killer, must not take the caller along.

    Attributes:
        base_url: Where it listens, ``/v1`` included.
        api_key: What a request has to carry; made anew for each process.

    Raises:
        ModelLoadError: llama.cpp does not load the file, with what it says; also where memory is short.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the process; `stop` closes it)
        self._last_words: list[str] | None = None
        self._stopping = threading.Lock()
        self.api_key = secrets.token_urlsafe(24)
        self._process = subprocess.Popen(  # noqa: S603  (this interpreter and a file of this package)
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
        )
        try:
            self.base_url = self._ask_to_load() + "/v1"
        except BaseException:
            self.stop()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def stop(self) -> None:
        """End the process; it frees its memory, open requests are dropped."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # it died before it read what was written
                    pipe.close()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._read_log()

    def why_it_ended(self) -> str:
        """For people: exit code and the end of llama.cpp's log."""
        code = self._process.wait(STOP_TIMEOUT_S)
        log = "\n".join(f"  {line}" for line in self._read_log())
        happened = f"llama.cpp ended with exit code {code}"
        if code == KILLED or any(sign in log for sign in NO_MEMORY):
            cause = "it was killed, most likely because there is" if code == KILLED else "there is"
            size = f"{self._settings.slots} slots of {self._settings.context_tokens} tokens"
            happened = f"{cause} not enough memory for {size}; lower local.slots or local.context_tokens in mas.toml"
        return f"{happened}\n{log}".rstrip()

    def _read_log(self) -> list[str]:
        """The last lines of the log of a process that has ended; read once, then the file is gone."""
        with self._stopping:
            if self._last_words is None:
                self._log.seek(0)
                self._last_words = self._log.read().decode("utf-8", "replace").splitlines()[-SHOWN_LOG_LINES:]
                self._log.close()
            return self._last_words

    def _ask_to_load(self) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise TypeError("the worker's pipes are asked for a few lines above")
        wish = {**asdict(self._settings), "path": str(self._settings.path), "api_key": self.api_key}
        try:
            stdin.write(json.dumps(wish) + "\n")
            stdin.flush()
            reply = stdout.readline()
        except BrokenPipeError:  # it died at once; its log says why
            reply = ""
        if not reply:
            raise ModelLoadError(f"{self._settings.path}: cannot be loaded: {self.why_it_ended()}")
        return str(json.loads(reply)["address"])


class ServerPool:
    """Servers by their settings: started at the first use, stopped when nobody uses them any more or at exit."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[ServerSettings, LlamaServer] = {}
        self._users: dict[ServerSettings, set[object]] = {}
        atexit.register(self.stop_all)

    def running(self, settings: ServerSettings, user: object) -> LlamaServer:
        """The server for `settings`, started if there is none or if it has died. Blocks while the model loads.

        Args:
            settings: What to serve, and how.
            user: Who will `leave` when it needs the server no more; the same one may ask any number of times.

        Raises:
            ModelLoadError: See `LlamaServer`.
        """
        with self._lock:
            self._users.setdefault(settings, set()).add(user)
            server = self._servers.get(settings)
            if server and not server.is_alive:
                self._servers.pop(settings).stop()
                server = None
            if server is None:
                server = self._servers[settings] = LlamaServer(settings)
            return server

    def leave(self, settings: ServerSettings, user: object) -> None:
        """`user` is done; the last one stops the server."""
        with self._lock:
            users = self._users.get(settings, set())
            users.discard(user)
            server = None if users else self._servers.pop(settings, None)
        if server:
            server.stop()

    def stop_all(self) -> None:
        """Stop every server, whoever uses it."""
        with self._lock:
            servers = tuple(self._servers.values())
            self._servers.clear()
        for server in servers:
            server.stop()
