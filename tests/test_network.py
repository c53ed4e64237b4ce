"""What `conftest` promises to every test."""

import os
import socket

import pytest

from mas_orchestra.models.keys import PROVIDER_KEYS


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80, 0, 0)])
def test_no_connection_leaves_this_machine(address):
    family = socket.AF_INET if len(address) == 2 else socket.AF_INET6
    with socket.socket(family) as connection, pytest.raises(ConnectionRefusedError, match="this machine only"):
        connection.connect(address)


def test_no_name_is_looked_up():
    with pytest.raises(socket.gaierror, match="no names but localhost"):
        socket.getaddrinfo("example.org", 80)


def test_this_machine_is_there():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        assert socket.getaddrinfo("localhost", 80)


def test_no_key_of_anybody_is_visible():
    assert not {*PROVIDER_KEYS.values(), "MAS_API_KEY", "OPENAI_BASE_URL"} & os.environ.keys()
