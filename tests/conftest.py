"""What every test stands on: no network beyond this machine, no keys of the person who runs it."""

import ipaddress
import os
import socket
import sys

import pytest

from support.endpoint import Endpoint, serve

KEY_SUFFIXES = ("_API_KEY", "_API_TOKEN", "_BASE_URL")


def pytest_addoption(parser):
    """The one flag that rewrites golden files and generated pages."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files instead of comparing with them")


def _is_loopback(host: object) -> bool:
    if host in {None, "", "localhost", b"localhost"}:
        return True
    text = host.decode() if isinstance(host, bytes) else str(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Stop every connection and name look-up that would leave this machine, whatever library asks for it."""
    if event == "socket.getaddrinfo" and not _is_loopback(arguments[0]):
        raise socket.gaierror(socket.EAI_NONAME, f"tests look up no names but localhost, not {arguments[0]!r}")
    if event == "socket.connect" and isinstance(arguments[1], tuple) and not _is_loopback(arguments[1][0]):
        raise ConnectionRefusedError(f"tests connect to this machine only, not to {arguments[1][0]!r}")


# An audit hook sees what any library does, and stays for the life of the process: so it is installed once.
sys.addaudithook(_refuse_network)


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    """Neither keys nor settings of the person who runs the tests reach them."""
    for name in list(os.environ):
        if name.endswith(KEY_SUFFIXES) or name.startswith("MAS_"):
            monkeypatch.delenv(name)


@pytest.fixture
async def endpoint() -> Endpoint:
    """A loopback OpenAI-compatible server, see `support.endpoint`."""
    async with serve() as server:
        yield server
