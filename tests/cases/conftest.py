"""The real stack for cases from the field: loopback server, HTTP client, executor, `solve`, and the `mas` command."""

import asyncio
import os
import sys
from dataclasses import dataclass

import pytest

from mas_orchestra.agents import Registry
from mas_orchestra.config import Settings
from mas_orchestra.models.limits import Limiter
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.run import Runtime


@pytest.fixture
async def runtime(endpoint):
    """Runtimes whose model is the loopback endpoint; `endpoint_options` are those of ``[endpoints]``."""
    opened = []

    def make(*, clock=None, prices=None, registry=None, **options):
        endpoint_options = options.pop("endpoint_options", {})
        settings = Settings(endpoints={endpoint.base_url: {"max_retries": 0, **endpoint_options}}, prices=prices or {})
        limiter = Limiter(settings.endpoint(endpoint.base_url), clock=clock) if clock else None
        model = OpenAICompatibleModel("test", endpoint.base_url, settings, environ={}, limiter=limiter)
        opened.append(model)
        return Runtime(model=model, registry=registry or Registry.installed(), **options)

    yield make
    for model in opened:
        await model.close()


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def mas(endpoint, tmp_path):
    """Runs ``mas solve`` as a user does, in a process and a folder of its own, against the loopback endpoint."""

    async def run(*words, stdin=None, url=None, **endpoint_options):
        options = {"max_retries": 1, "request_timeout_s": 1} | endpoint_options
        lines = [f'[endpoints."{endpoint.base_url}"]', *(f"{name} = {value}" for name, value in options.items())]
        (tmp_path / "mas.toml").write_text("\n".join(lines), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mas_orchestra.cli", "solve", *words),
            *("--model", url or f"openai:test@{endpoint.base_url}"),
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
        )
        out, err = await process.communicate(stdin)
        return Ended(process.returncode, out.decode(), err.decode())

    return run
