"""The peers' processes, as the measuring scripts see them."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fake_endpoint import RunningEndpoint, running_endpoint

# In this order in every table. The name is the module in peers/.
PEERS = {
    "mas_orchestra": "ours",
    "aiohttp_client": "by hand, aiohttp + orjson",
    "openai_sdk": "by hand, openai SDK",
    "langgraph_chat": "LangGraph, ChatOpenAI",
}
OURS = "mas_orchestra"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a command took in the peer's process.

    Attributes:
        cpu_s: User and system time of that process, all threads.
        runs: Whole systems that were answered.
        memory_mb: Largest resident size so far.
    """

    wall_s: float
    cpu_s: float
    runs: int
    memory_mb: float


class Worker:
    """One peer waiting for commands."""

    def __init__(self, peer: str, base_url: str) -> None:
        self.peer = peer
        script = Path(__file__).with_name("worker.py")
        self._process = subprocess.Popen(
            [sys.executable, script, peer, base_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._read()

    def ask(self, do: str, shape: str, **options: float) -> Measured:
        """Have one measurement made."""
        assert self._process.stdin is not None
        print(json.dumps({"do": do, "shape": shape, **options}), file=self._process.stdin, flush=True)
        return Measured(**self._read())

    def close(self) -> None:
        """Let it close its connections and end."""
        self._process.communicate(timeout=60)

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.peer} ended; its error is above")
        found: dict[str, Any] = json.loads(line)
        return found


@dataclass(frozen=True, slots=True)
class Bench:
    """An endpoint and the peers connected to it."""

    endpoint: RunningEndpoint
    workers: Sequence[Worker]


@contextmanager
def bench(peers: Sequence[str]) -> Iterator[Bench]:
    """Endpoint and peers for the length of a ``with`` block."""
    with ExitStack() as stack:
        endpoint = stack.enter_context(running_endpoint())
        workers = [Worker(peer, endpoint.base_url) for peer in peers]
        for worker in workers:
            stack.callback(worker.close)
        yield Bench(endpoint, workers)
