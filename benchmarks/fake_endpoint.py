"""An OpenAI-compatible endpoint on loopback that costs next to nothing, so that what is measured is its clients.

A bare `asyncio.Protocol`: no framework, no JSON parsing, replies built once. Serves ``POST /v1/chat/completions`` after
a fixed latency. ``GET /control?latency_ms=200`` sets the latency and zeroes the counters, ``GET /counters`` reads them.

Run alone:  python benchmarks/fake_endpoint.py --port 8099
"""

import argparse
import asyncio
import json
import re
import resource
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import cast

CONTENT_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
SAMPLES = re.compile(rb'"n": ?(\d+)')
LATENCY = re.compile(rb"latency_ms=(\d+)")

# Every field that any of the clients reads, whichever sub-agent asked.
CONTENT = json.dumps(
    {
        "thinking": "Six times seven is forty-two; both sources agree.",
        "answer": "42",
        "feedback": "Nothing is wrong with it.",
        "correct": "True",
    }
)


@dataclass(slots=True, kw_only=True)
class Counters:
    """What the endpoint has seen since the last ``/control``."""

    requests: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0
    connections: int = 0


class Endpoint:
    """State shared by all connections."""

    def __init__(self) -> None:
        self.latency_s = 0.0
        self.counters = Counters()
        self.loop = asyncio.get_running_loop()

    def control(self, head: bytes) -> bytes:
        """Answer a GET."""
        if head.startswith(b"GET /control"):
            match = LATENCY.search(head)
            self.latency_s = int(match[1]) / 1000 if match else 0.0
            self.counters = Counters()
        return response(json.dumps(asdict(self.counters)).encode())


class Connection(asyncio.Protocol):
    """One keep-alive connection; requests on it are answered one after another."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where replies go."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's transports do not inherit from it
        self._endpoint.counters.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it; a late reply is dropped."""
        del exc
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Handle every request that is complete."""
        buffer = self._buffer + data if self._buffer else data
        while (end := buffer.find(b"\r\n\r\n")) >= 0:
            length = CONTENT_LENGTH.search(buffer, 0, end)
            total = end + 4 + (int(length[1]) if length else 0)
            if len(buffer) < total:
                break
            self._handle(buffer[:total])
            buffer = buffer[total:]
        self._buffer = buffer

    def _handle(self, request: bytes) -> None:
        if not request.startswith(b"POST"):
            self._write(self._endpoint.control(request))
            return
        counters = self._endpoint.counters
        counters.requests += 1
        counters.in_flight += 1
        counters.peak_in_flight = max(counters.peak_in_flight, counters.in_flight)
        samples = SAMPLES.search(request)
        reply = completion(int(samples[1]) if samples else 1)
        if self._endpoint.latency_s:
            self._endpoint.loop.call_later(self._endpoint.latency_s, self._reply, reply)
        else:
            self._reply(reply)

    def _reply(self, reply: bytes) -> None:
        self._endpoint.counters.in_flight -= 1
        self._write(reply)

    def _write(self, reply: bytes) -> None:
        if self._transport is not None:
            self._transport.write(reply)


def response(body: bytes) -> bytes:
    """A whole HTTP response."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


@cache
def completion(samples: int) -> bytes:
    """A chat completion with `samples` choices."""
    message = {"role": "assistant", "content": CONTENT, "refusal": None}
    choices = [{"index": i, "message": message, "finish_reason": "stop", "logprobs": None} for i in range(samples)]
    usage = {"prompt_tokens": 300, "completion_tokens": 40 * samples, "total_tokens": 300 + 40 * samples}
    head = {"id": "chatcmpl-0", "object": "chat.completion", "created": 1_760_000_000, "model": "fake"}
    return response(json.dumps({**head, "choices": choices, "usage": usage}).encode())


async def serve(port: int) -> None:
    """Serve until the process is ended; prints the port."""
    endpoint = Endpoint()
    server = await endpoint.loop.create_server(lambda: Connection(endpoint), "127.0.0.1", port, backlog=8192)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def allow_many_files() -> None:
    """Raise the limit of open files as far as the system lets us."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@dataclass(frozen=True, slots=True)
class RunningEndpoint:
    """Handle on an endpoint in a process of its own."""

    origin: str

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return f"{self.origin}/v1"

    def reset(self, *, latency_ms: int = 0) -> None:
        """Set the latency and zero the counters."""
        self._get(f"/control?latency_ms={latency_ms}")

    def counters(self) -> Counters:
        """What it has seen since the last `reset`."""
        return Counters(**self._get("/counters"))

    def _get(self, path: str) -> dict[str, int]:
        with urllib.request.urlopen(self.origin + path, timeout=30) as reply:
            found: dict[str, int] = json.load(reply)
        return found


@contextmanager
def running_endpoint() -> Iterator[RunningEndpoint]:
    """An endpoint in a process of its own, for the length of a ``with`` block."""
    with subprocess.Popen([sys.executable, __file__, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield RunningEndpoint(f"http://127.0.0.1:{process.stdout.readline().strip()}")
        finally:
            process.terminate()


def run(port: int) -> None:
    """Serve on uvloop where it is installed."""
    allow_many_files()
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(port))
    else:
        uvloop.run(serve(port))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--port", type=int, default=8099)
    run(arguments.parse_args().port)
