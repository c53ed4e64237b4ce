"""The embedded model, for real: one llama.cpp process for all tests of this file."""

import asyncio
import importlib.util
import json
import threading

import jsonschema
import pytest

from mas_orchestra.config import Settings, read_settings
from mas_orchestra.errors import (
    ConfigError,
    ContextOverflowError,
    MissingExtraError,
    ModelLoadError,
    UnknownNameError,
)
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.models.llama_server import ServerPool, ServerSettings
from mas_orchestra.models.local import LocalModel
from mas_orchestra.models.uri import open_model
from mas_orchestra.models.weights import EMBEDDED, find_weights
from mas_orchestra.plan import read
from mas_orchestra.plan.catalog import installed_catalog
from mas_orchestra.plan.compact import compact_messages, compact_schema
from mas_orchestra.types import DoM, Message, ResponseSchema, Role, ToolSpec, Usage

pytestmark = pytest.mark.local_model

SLOTS, WINDOW = 2, 1024


def needs_weights():
    pytest.importorskip("xllamacpp")
    if find_weights(EMBEDDED["smollm2-135m"]) is None:
        pytest.skip("the weights are not here: mas models get local:smollm2-135m")


@pytest.fixture(scope="session")
def smollm2():
    needs_weights()
    settings = read_settings({"local": {"slots": SLOTS, "threads": 1, "context_tokens": WINDOW}}, place="test")
    model = LocalModel.open("smollm2-135m", settings)
    yield model
    asyncio.run(model.close())


def user(text):
    return (Message(role=Role.USER, content=text),)


CAPITAL = user("What is the capital of France? Answer in one word.")
ENDLESS = ResponseSchema(name="x", schema={"type": "array", "items": {"const": "word"}, "minItems": 1_000})


async def test_it_answers(smollm2):
    completion = await smollm2.complete(CAPITAL, Params(temperature=0, max_tokens=20))

    assert "Paris" in completion.content
    assert completion.choices[0].finish_reason is FinishReason.STOP
    assert completion.model == smollm2.uri == "local:smollm2-135m"


async def test_usage_is_counted_by_the_model_and_costs_nothing(smollm2):
    completion = await smollm2.complete(CAPITAL, Params(temperature=0, max_tokens=3))
    usage = completion.usage

    assert not usage.estimated
    assert usage.output_tokens == 3
    assert 30 < usage.input_tokens + usage.cache_read_tokens < 60
    assert smollm2.cost_usd(usage) == smollm2.cost_usd(Usage()) == 0.0


async def test_a_reply_follows_its_json_schema(smollm2):
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 20},
            "size": {"enum": ["small", "large"]},
            "sights": {"type": "array", "items": {"type": "string", "maxLength": 12}, "minItems": 2, "maxItems": 3},
        },
        "required": ["city", "size", "sights"],
        "additionalProperties": False,
    }
    params = Params(temperature=1, seed=3, max_tokens=200, response_schema=ResponseSchema(name="x", schema=schema))

    completion = await smollm2.complete(user("Describe Paris."), params)

    jsonschema.validate(json.loads(completion.content), schema)


@pytest.mark.slow
@pytest.mark.parametrize(("dom", "seed"), [(DoM.LOW, 0), (DoM.LOW, 1), (DoM.HIGH, 0), (DoM.HIGH, 1), (DoM.HIGH, 2)])
async def test_every_plan_that_it_writes_is_strictly_valid(smollm2, dom, seed):
    catalog = installed_catalog()
    schema = ResponseSchema(name="plan", schema=compact_schema(catalog, dom))
    params = Params(temperature=1.5, seed=seed, max_tokens=400, response_schema=schema)

    completion = await smollm2.complete(
        compact_messages("Which is longer, the Nile or the Rhine?", catalog=catalog, dom=dom), params
    )

    report = read(completion.content, dom=dom, mode="strict", catalog=catalog)
    assert report.faults == ()
    assert len(report.plan.steps) == 1 if dom is DoM.LOW else len(report.plan.steps) >= 2


async def test_samples_are_independent_and_all_of_them_are_billed(smollm2):
    params = Params(temperature=1, seed=5, max_tokens=12, n=3)

    completion = await smollm2.complete(user("Tell me about any animal."), params)

    assert len({choice.content for choice in completion.choices}) == 3
    assert completion.usage.output_tokens == 36


async def test_more_calls_than_slots_are_all_answered(smollm2):
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(smollm2.complete(user(f"Say {word}."), Params(max_tokens=4)))
            for word in ("one", "two", "three", "four", "five")
        ]

    assert all(task.result().usage.output_tokens for task in tasks)
    assert any(task.result().queue_s > 0 for task in tasks)


def test_several_event_loops_share_one_process(smollm2):
    found = []

    def work():
        found.append(asyncio.run(smollm2.complete(CAPITAL, Params(max_tokens=2))))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 3
    assert len(smollm2._clients) == 1


async def test_a_prompt_longer_than_the_window_is_typed_and_says_the_sizes(smollm2):
    with pytest.raises(ContextOverflowError, match=rf"local:smollm2-135m: .*prompt 2\d{{3}}, window {WINDOW} tokens"):
        await smollm2.complete(user("word " * 2_000), Params(max_tokens=5))


@pytest.mark.slow
async def test_a_reply_ends_by_length_at_the_end_of_the_window(smollm2):
    completion = await smollm2.complete(
        user("word " * (WINDOW - 60)), Params(max_tokens=400, temperature=0, response_schema=ENDLESS)
    )

    assert completion.choices[0].finish_reason is FinishReason.LENGTH
    assert completion.usage.output_tokens < 60


async def test_a_schema_that_cannot_be_enforced_is_left_out_and_said_and_costs_no_other(smollm2):
    nonsense = ResponseSchema(name="x", schema={"type": "banana"})

    free = await smollm2.complete(CAPITAL, Params(max_tokens=5, response_schema=nonsense))

    assert "banana" in free.notes[0]
    assert "127.0.0.1" not in free.notes[0]
    assert smollm2.abilities.json_schema


async def test_cancelling_a_call_stops_its_decoding(smollm2):
    calls = [
        asyncio.ensure_future(smollm2.complete(user(f"{n}"), Params(max_tokens=900, response_schema=ENDLESS)))
        for n in range(SLOTS)
    ]
    await asyncio.sleep(0.3)
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)

    # Both slots were taken for a long time to come; they are free only if the decoding has stopped.
    async with asyncio.timeout(20):
        completion = await smollm2.complete(CAPITAL, Params(temperature=0, max_tokens=20))
    assert all(call.cancelled() for call in calls)
    assert "Paris" in completion.content


async def test_tools_are_passed_on(smollm2):
    tool = ToolSpec(name="weather", description="The weather in a city.", parameters={"type": "object"})

    completion = await smollm2.complete(user("Weather in Paris?"), Params(max_tokens=5, tools=(tool,)))

    assert completion.usage.output_tokens == 5


async def test_a_small_model_ends_without_a_limit_too(smollm2, monkeypatch):
    monkeypatch.setattr("mas_orchestra.models.local.SMALL_MAX_TOKENS", 7)
    completion = await smollm2.complete(user("Go on."), Params(response_schema=ENDLESS))

    assert completion.usage.output_tokens == 7


def test_its_abilities_are_those_of_the_settings(smollm2):
    assert smollm2.abilities.context_tokens == WINDOW
    assert smollm2.abilities.json_schema
    assert smollm2.abilities.small
    assert not smollm2.abilities.native_n


async def test_a_process_that_dies_during_a_call_is_no_mystery(smollm2):
    model = LocalModel("local:doomed", ServerSettings(**_like(smollm2, slots=1)), pool=ServerPool())
    await model.complete(CAPITAL, Params(max_tokens=1))
    call = asyncio.ensure_future(model.complete(CAPITAL, Params(max_tokens=900, response_schema=ENDLESS)))
    await asyncio.sleep(0.2)
    (server,) = model._pool._servers.values()
    server._process.kill()

    with pytest.raises(ModelLoadError, match="local:doomed: its process ended: it was killed, most likely because"):
        await call
    revived = await model.complete(CAPITAL, Params(max_tokens=1))
    assert revived.usage.output_tokens == 1
    await model.close()


async def test_closing_stops_the_process_and_may_be_repeated(smollm2):
    pool = ServerPool()
    model = LocalModel("local:x", ServerSettings(**_like(smollm2, slots=1)), pool=pool)
    await model.complete(CAPITAL, Params(max_tokens=1))
    (server,) = pool._servers.values()

    await model.close()
    await model.close()

    assert not server.is_alive


async def test_closing_one_that_was_never_used_is_no_work(smollm2):
    pool = ServerPool()

    await LocalModel("local:x", ServerSettings(**_like(smollm2)), pool=pool).close()

    assert pool._servers == {}


async def test_a_file_that_llama_cpp_cannot_load_is_a_typed_failure_of_the_call(tmp_path):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF")
    model = LocalModel.open(str(path), Settings())

    with pytest.raises(ModelLoadError, match=r"^local:.*broken\.gguf: .*cannot be loaded") as caught:
        await model.complete(CAPITAL, Params())

    assert caught.value.requests == 0
    await model.close()


def test_a_path_names_the_file_and_not_the_folder_one_is_in(tmp_path, monkeypatch):
    pytest.importorskip("xllamacpp")
    (tmp_path / "any.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)

    model = open_model("local:any.gguf", Settings())

    assert model.uri == f"local:{tmp_path / 'any.gguf'}"
    assert not model.abilities.small


def test_without_llama_cpp_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r"local:smollm2-135m needs.*pip install 'mas-orchestra\[local\]'"):
        open_model("local:smollm2-135m", Settings())


@pytest.mark.parametrize(("spec", "kind"), [("smollm3", UnknownNameError), ("/no/such/file.gguf", ConfigError)])
def test_what_cannot_be_found_is_said_before_anything_starts(spec, kind):
    pytest.importorskip("xllamacpp")

    with pytest.raises(kind):
        LocalModel.open(spec, Settings())


def _like(model, **changes):
    settings = model._settings
    known = {name: getattr(settings, name) for name in ("path", "slots", "threads", "context_tokens")}
    return {**known, **changes}
