"""The real llama.cpp, with the real small model where one has to load."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mas_orchestra.errors import ModelLoadError
from mas_orchestra.models.llama_server import LlamaServer, ServerPool, ServerSettings
from mas_orchestra.models.weights import EMBEDDED, find_weights

pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.local_model

WEIGHTS = find_weights(EMBEDDED["smollm2-135m"])


def settings(path=WEIGHTS, context_tokens=256):
    if path is None:
        pytest.skip("the weights are not here: mas models get local:smollm2-135m")
    return ServerSettings(path=path, slots=1, threads=1, context_tokens=context_tokens)


@pytest.fixture
def pool():
    pool = ServerPool()
    yield pool
    pool.stop_all()


def status_of(server, key):
    request = urllib.request.Request(server.base_url + "/models", headers={"Authorization": f"Bearer {key}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"  # ended, only not yet buried


def wait_until_gone(pid):
    for _ in range(2_000):
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_one_process_serves_all_users_and_ends_with_the_last(pool):
    wanted = settings()
    with ThreadPoolExecutor(4) as threads:
        servers = set(threads.map(lambda user: pool.running(wanted, user), ["one", "one", "two", "two"]))
    assert len(servers) == 1
    server = servers.pop()

    pool.leave(wanted, "one")
    assert server.is_alive
    pool.leave(wanted, "two")
    assert not server.is_alive


def test_leaving_without_having_come_is_no_work(pool):
    pool.leave(settings(), "nobody")

    assert pool._servers == {}


def test_only_who_holds_the_key_is_served(pool):
    server = pool.running(settings(), "test")

    assert server.base_url.startswith("http://127.0.0.1:")
    assert status_of(server, server.api_key) == 200
    assert status_of(server, "another") == 401


def test_nothing_of_its_log_reaches_our_output(pool, capfd):
    server = pool.running(settings(), "test")
    status_of(server, "another")
    pool.stop_all()

    assert capfd.readouterr() == ("", "")


def test_a_server_that_died_is_replaced(pool):
    first = pool.running(settings(), "test")
    first._process.kill()
    first._process.wait()

    second = pool.running(settings(), "test")

    assert second is not first
    assert status_of(second, second.api_key) == 200


def test_it_says_how_it_died(pool):
    server = pool.running(settings(), "test")
    server._process.kill()

    assert "not enough memory for 1 slots of 256 tokens; lower local.slots" in server.why_it_ended()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_key_press_that_interrupts_the_terminal_leaves_it_running(pool):
    server = pool.running(settings(), "test")
    server._process.send_signal(signal.SIGINT)

    assert status_of(server, server.api_key) == 200


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("way", ["exit", "kill", "terminate"])
def test_it_never_outlives_its_parent(way):
    ends = {"exit": "", "kill": "os.kill(os.getpid(), 9)", "terminate": "os.kill(os.getpid(), 15)"}
    script = f"""
import os
from pathlib import Path
from mas_orchestra.models.llama_server import ServerPool, ServerSettings
pool = ServerPool()
wanted = ServerSettings(path=Path({str(settings().path)!r}), slots=1, threads=1, context_tokens=256)
server = pool.running(wanted, "test")
print(server._process.pid, flush=True)
{ends[way]}
"""
    parent = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert parent.stderr == ""
    assert wait_until_gone(int(parent.stdout))


def test_a_file_cut_short_is_reported_with_the_words_of_llama_cpp(tmp_path):
    cut = tmp_path / "cut.gguf"
    with settings().path.open("rb") as whole:
        cut.write_bytes(whole.read(20_000_000))

    with pytest.raises(ModelLoadError, match=r"(?s)cut\.gguf: cannot be loaded.*corrupted or incomplete"):
        LlamaServer(settings(cut))


@pytest.mark.parametrize("content", [b"GGUF", b"GGUF\x03\x00\x00\x00" + b"\xff" * 16, b"GGUF" + bytes(500)])
def test_a_file_that_only_begins_like_gguf_is_reported(tmp_path, content):
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)

    with pytest.raises(ModelLoadError, match=r"broken\.gguf: cannot be loaded"):
        LlamaServer(settings(path))


def test_a_load_that_failed_can_be_tried_again(pool, tmp_path):
    path = tmp_path / "late.gguf"
    path.write_bytes(b"GGUF")
    wanted = settings(path)
    with pytest.raises(ModelLoadError):
        pool.running(wanted, "test")
    path.unlink()
    path.symlink_to(settings().path)

    assert pool.running(wanted, "test").is_alive


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_too_little_memory_says_what_to_lower():
    script = f"""
import resource
from pathlib import Path
from mas_orchestra.errors import ModelLoadError
from mas_orchestra.models.llama_server import LlamaServer, ServerSettings
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    LlamaServer(ServerSettings(path=Path({str(settings().path)!r}), slots=2, threads=1, context_tokens=100_000))
except ModelLoadError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert "there is not enough memory for 2 slots of 100000 tokens; lower local.slots" in done.stdout


def test_a_worker_that_cannot_start_is_a_load_error(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    (tmp_path / "no-python").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "no-python").chmod(0o755)

    with pytest.raises(ModelLoadError, match=r"llama\.cpp ended with exit code 3"):
        LlamaServer(settings(Path("any.gguf")))
