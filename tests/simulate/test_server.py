"""The OpenAI-compatible server of simulated models, over real connections on loopback."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import orjson
import pytest

from mas_orchestra import plan as language
from mas_orchestra.agents.registry import Registry
from mas_orchestra.config import Settings
from mas_orchestra.errors import (
    AuthenticationError,
    ConfigError,
    ContextOverflowError,
    ModelNotFoundError,
    RequestRejectedError,
    UsageError,
)
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.models.uri import open_model
from mas_orchestra.simulate.server import Address, serve
from mas_orchestra.types import Message, Role
from support.simulated import CHAIN, SINGLE, asked, flawed

ERRING = {"lookup": 0.4, "systematic": 0.3}
KEY = "planted-key"


@asynccontextmanager
async def serving(*, key="", **flaws):
    async with serve({"sim:test": flawed(**flaws)}, Address(port=0, key=key)) as base_url:
        yield base_url


@asynccontextmanager
async def client(base_url, *, name="sim:test", key="", **options):
    environ = {"MAS_API_KEY": key} if key else {}
    settings = Settings(endpoints={base_url: {"max_retries": 0, **options}})
    model = open_model(f"openai:{name}@{base_url}", settings, environ=environ)
    try:
        yield model
    finally:
        await model.close()


async def post(base_url, body, **headers):
    async with (
        aiohttp.ClientSession(trust_env=False) as session,
        session.post(f"{base_url}/chat/completions", data=body, headers=headers) as response,
    ):
        return response.status, orjson.loads(await response.read())


def body(**changes):
    return orjson.dumps({"model": "sim:test", "messages": [{"role": "user", "content": SINGLE}], **changes})


async def test_replies_over_http_are_those_of_the_model_itself():
    inside = flawed(**ERRING).reply(asked(CHAIN), Params(n=4, seed=7))
    async with serving(**ERRING) as base_url, client(base_url) as model:
        outside = await model.complete(asked(CHAIN), Params(n=4, seed=7))

    assert outside.choices == inside.choices
    assert outside.usage == inside.usage
    assert outside.model == "sim:test (SIMULATED)"
    assert outside.requests == 1


async def test_a_stream_gives_the_same_reply_and_usage():
    async with serving(**ERRING) as base_url, client(base_url) as model:
        whole = await model.complete(asked(CHAIN), Params(n=2, seed=7))
        streamed = await model.complete(asked(CHAIN), Params(n=2, seed=7, stream=True))

    assert streamed.choices == whole.choices
    assert streamed.usage == whole.usage


async def test_a_cut_reply_says_so():
    async with serving(operation_budget=1) as base_url, client(base_url) as model:
        choice = (await model.complete(asked(CHAIN), Params())).choices[0]

    assert choice.finish_reason is FinishReason.LENGTH


async def test_plans_come_as_tool_calls_where_tools_are_offered():
    catalog = Registry.installed().catalog
    messages = language.prompt_messages(CHAIN, dom="high", catalog=catalog, format="tools")
    for stream in (False, True):
        async with serving() as base_url, client(base_url) as model:
            params = Params(tools=language.tools(catalog, "high"), stream=stream)
            choice = (await model.complete(messages, params)).choices[0]

        text = language.text_of_tool_calls(choice.tool_calls, choice.content)
        assert language.read(text, dom="high", mode="strict", catalog=catalog).valid


async def test_models_are_listed_as_simulated():
    async with (
        serving() as base_url,
        aiohttp.ClientSession(trust_env=False) as session,
        session.get(f"{base_url}/models") as response,
    ):
        listed = await response.json()

    assert [(each["id"], each["owned_by"]) for each in listed["data"]] == [("sim:test", "mas-orchestra (SIMULATED)")]


@pytest.mark.parametrize(
    ("question", "options", "error"),
    [
        ("What is 2 + 2?", {}, RequestRejectedError),
        (CHAIN, {"context_tokens": 100}, ContextOverflowError),
    ],
)
async def test_refusals_arrive_as_what_they_are(question, options, error):
    async with serving(**options) as base_url, client(base_url) as model:
        with pytest.raises(error):
            await model.complete(asked(question), Params())


async def test_an_unknown_model_is_not_found():
    async with serving() as base_url, client(base_url, name="gpt-5") as model:
        with pytest.raises(ModelNotFoundError, match="there are sim:test"):
            await model.complete(asked(CHAIN), Params())


@pytest.mark.parametrize(
    ("sent", "code", "words"),
    [
        (b"{", "invalid_json", "not JSON"),
        (b"[]", "invalid_request", "valid dictionary"),
        (body(messages=[]), "invalid_request", "messages"),
        (body(n=0), "invalid_request", "n: "),
        (body(n=10_000), "invalid_request", "n: "),
        (body(messages=[{"role": "wizard", "content": "x"}]), "invalid_request", "messages.0.role"),
    ],
)
async def test_what_is_no_request_is_explained(sent, code, words):
    async with serving() as base_url:
        status, reply = await post(base_url, sent)

    assert (status, reply["error"]["code"]) == (400, code)
    assert words in reply["error"]["message"]


async def test_what_other_clients_send_is_understood():
    sent = body(
        messages=[
            {"role": "developer", "content": "Be careful."},
            {"role": "user", "content": [{"type": "text", "text": SINGLE}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "think"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "ok"},
        ],
        temperature=0.3,
        stop="nothing",
        max_completion_tokens=500,
        user="somebody",
        stream=False,
        unknown={"a": 1},
    )
    async with serving() as base_url:
        status, reply = await post(base_url, sent)

    assert status == 200
    assert reply["choices"][0]["message"]["content"].endswith("\\boxed{14}")


async def test_an_unknown_path_is_a_json_error():
    async with (
        serving() as base_url,
        aiohttp.ClientSession(trust_env=False) as session,
        session.get(f"{base_url}/nothing") as response,
    ):
        assert (response.status, (await response.json())["error"]["code"]) == (404, "not_found")


async def test_without_the_key_nobody_gets_in():
    async with serving(key=KEY) as base_url:
        async with client(base_url, key=KEY) as model:
            assert (await model.complete(asked(CHAIN), Params())).choices
        async with client(base_url, key="another") as model:
            with pytest.raises(AuthenticationError):
                await model.complete(asked(CHAIN), Params())
        await post(base_url, body(), Authorization="Bearer schlüssel")
        status, reply = await post(base_url, body())

    assert (status, reply["error"]["code"]) == (401, "invalid_api_key")


def test_others_may_connect_only_with_a_key():
    with pytest.raises(UsageError, match="a key is needed"):
        Address(host="0.0.0.0")
    assert Address(host="0.0.0.0", key=KEY).host == "0.0.0.0"
    assert [Address(host=host).key for host in ("127.0.0.1", "::1", "localhost")] == ["", "", ""]
    with pytest.raises(UsageError):
        Address(host="example.org")


def test_a_key_is_in_no_representation():
    assert KEY not in repr(Address(key=KEY))


async def test_a_port_in_use_is_explained():
    async with serving() as base_url:
        port = int(base_url.split(":")[2].split("/")[0])
        with pytest.raises(ConfigError, match="choose another port"):
            async with serve({}, Address(port=port)):
                pass


async def test_many_calls_at_once_get_the_replies_of_their_own_prompts():
    questions = [SINGLE.replace("equals 4", f"equals {number}") for number in range(20)]
    messages = [(Message(role=Role.USER, content=question),) for question in questions]
    async with serving() as base_url, client(base_url, concurrency=20) as model, asyncio.TaskGroup() as group:
        tasks = [group.create_task(model.complete(each, Params())) for each in messages]

    found = [task.result().content.rpartition("\\boxed{")[2].rstrip("}") for task in tasks]
    assert found == [str(2 * (number + 3) % 23) for number in range(20)]
