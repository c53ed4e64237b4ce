"""Many calls at once on one endpoint."""

import asyncio

import pytest

from mas_orchestra.config import Settings
from mas_orchestra.models.base import Params
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.types import Message, Role
from support.clock import FakeClock
from support.endpoint import at_most, hang, held, queued, slow, status, text
from support.watch import Watch

ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)


async def test_everything_at_once_on_an_endpoint_that_refuses_more_than_16(endpoint, build):
    endpoint.handle(at_most(16, slow(0.002, text("42")), status(429)))
    model = build(max_retries=8)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.complete(ASK, Params())) for _ in range(300)]
    assert [task.result().content for task in tasks] == ["42"] * 300
    assert model._limiter.in_flight == 0


async def test_everything_at_once_on_a_server_that_lets_more_than_16_wait(endpoint):
    endpoint.handle(queued(16, slow(0.01, text("42"))))
    settings = Settings(endpoints={endpoint.base_url: {"concurrency": 16, "request_timeout_s": 5.0}})
    model = OpenAICompatibleModel("test", endpoint.base_url, settings, environ={})
    watch = Watch()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.complete(ASK, Params(), queue=watch)) for _ in range(500)]
    await model.close()
    assert len([task.result() for task in tasks]) == 500
    assert (endpoint.count, endpoint.peak) == (500, 16)
    assert (watch.entered, watch.now) == (500 - 16, 0)


async def test_one_refusal_holds_back_every_caller_of_the_endpoint(endpoint, build):
    endpoint.script(status(429, retry_after="60"), text("42"))
    clock = FakeClock()
    model, watch = build(clock=clock), Watch()
    first = asyncio.create_task(model.complete(ASK, Params(), queue=watch))
    await watch.waits.wait()
    other = asyncio.create_task(model.complete(ASK, Params()))
    await clock.advance(59.9)
    assert endpoint.count == 1
    await clock.advance(0.2)
    assert [(await task).content for task in (first, other)] == ["42", "42"]


async def test_models_of_one_endpoint_share_its_limit(endpoint):
    gate = asyncio.Event()
    endpoint.handle(held(gate, text("42")))
    settings = Settings(endpoints={endpoint.base_url: {"concurrency": 2}})
    models = [OpenAICompatibleModel(name, endpoint.base_url, settings, environ={}) for name in ("a", "b")]
    tasks = [asyncio.create_task(model.complete(ASK, Params())) for model in models for _ in range(3)]
    await endpoint.until(lambda: endpoint.in_flight == 2)
    gate.set()
    for task in tasks:
        await task
    assert endpoint.peak == 2
    for model in models:
        await model.close()


async def test_a_cancelled_call_ends_its_request_and_frees_its_place(endpoint, build):
    endpoint.handle(hang(endpoint))
    model = build(concurrency=1)
    task = asyncio.create_task(model.complete(ASK, Params()))
    await endpoint.until(lambda: endpoint.in_flight == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model._limiter.in_flight == 0
    endpoint.handle(text("42"))
    assert (await model.complete(ASK, Params())).content == "42"
