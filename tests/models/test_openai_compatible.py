"""The client against a real server on loopback: what goes out, what comes back, several samples."""

import asyncio

import pytest

from mas_orchestra.config import Settings
from mas_orchestra.errors import BrokenReplyError, CallTimeoutError, ConfigError, RateLimitError, RequestRejectedError
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.types import Message, ResponseSchema, Role, ToolCall, ToolSpec, Usage
from support.endpoint import completion, delta, held, json, message, serve, status, stream, text

KEY = "sk-planted-secret-0123456789"
ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)
WEATHER = ToolSpec(name="weather", description="Weather of a city.", parameters={"type": "object", "properties": {}})


class TestRequest:
    async def test_carries_everything_that_was_asked_for(self, endpoint, build):
        endpoint.handle(text("42"))
        conversation = (
            Message(role=Role.SYSTEM, content="Be brief."),
            Message(role=Role.ASSISTANT, content="", tool_calls=(ToolCall(id="c1", name="weather", arguments="{}"),)),
            Message(role=Role.TOOL, content="rain", tool_call_id="c1"),
        )
        params = Params(
            temperature=0.5,
            top_p=0.9,
            max_tokens=64,
            seed=3,
            stop=("\n\n",),
            tools=(WEATHER,),
            response_schema=ResponseSchema(name="answer", schema={"type": "object"}),
        )
        await build().complete(conversation, params)
        assert endpoint.bodies == [
            {
                "model": "test",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
                        ],
                    },
                    {"role": "tool", "content": "rain", "tool_call_id": "c1"},
                ],
                "temperature": 0.5,
                "top_p": 0.9,
                "max_tokens": 64,
                "seed": 3,
                "stop": ["\n\n"],
                "tools": [
                    {
                        "type": "function",
                        "function": {
                            "name": "weather",
                            "description": "Weather of a city.",
                            "parameters": {"type": "object", "properties": {}},
                        },
                    }
                ],
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
                },
            }
        ]

    async def test_leaves_the_endpoints_defaults_alone(self, endpoint, build):
        await build().complete(ASK, Params())
        assert set(endpoint.bodies[0]) == {"model", "messages"}

    async def test_says_what_it_left_out_for_an_endpoint_without_tools_and_schemas(self, endpoint, build):
        params = Params(tools=(WEATHER,), response_schema=ResponseSchema(name="a", schema={}))
        reply = await build(tools=False, json_schema=False).complete(ASK, params)
        assert set(endpoint.bodies[0]) == {"model", "messages"}
        assert [note.partition(" left out")[0] for note in reply.notes] == ["tools", "response schema"]

    async def test_sends_the_key_and_headers_of_this_endpoint(self, endpoint, build, monkeypatch):
        monkeypatch.setenv("GATEWAY", "gate-secret")
        settings = Settings(endpoints={endpoint.base_url: {"api_key_env": "MINE", "headers": {"X-Team": "env:TEAM"}}})
        environ = {"MINE": KEY, "TEAM": "blue-team"}
        model = OpenAICompatibleModel("test", endpoint.base_url, settings, environ=environ)
        await model.complete(ASK, Params())
        await model.close()
        headers = endpoint.calls[0].request.headers
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert headers["X-Team"] == "blue-team"


class TestReply:
    async def test_gives_text_usage_model_and_counts(self, endpoint, build):
        endpoint.handle(json(completion(message("42"), model="test-2026")))
        reply = await build().complete(ASK, Params())
        assert reply.content == "42"
        assert reply.model == "test-2026"
        assert reply.usage == Usage(input_tokens=30, output_tokens=4)
        assert (reply.requests, reply.cached, reply.notes) == (1, False, ())
        assert reply.queue_s == 0.0

    async def test_null_content_is_empty_and_its_tokens_count(self, endpoint, build):
        body = {
            "choices": [
                {
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": None, "reasoning": "So final: 42"},
                }
            ],
            "usage": {"completion_tokens": 37},
        }
        endpoint.handle(json(body))
        reply = await build().complete(ASK, Params())
        assert reply.content == ""
        assert reply.choices[0].reasoning == "So final: 42"
        assert reply.usage.output_tokens == 37

    @pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": "x"}])
    async def test_usage_that_is_missing_is_estimated_and_marked(self, endpoint, build, usage):
        endpoint.handle(text("forty-two", usage=usage))
        reply = await build().complete(ASK, Params())
        assert reply.usage.estimated
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0


class TestStream:
    async def test_pieces_and_usage_make_one_reply(self, endpoint, build):
        endpoint.handle(
            stream(
                b": keep-alive\n\n",
                delta("", role="assistant"),
                delta(reasoning_content="6*7"),
                delta("4"),
                delta("2"),
                delta(finish="stop"),
            )
        )
        reply = await build().complete(ASK, Params(stream=True))
        assert (reply.content, reply.choices[0].reasoning) == ("42", "6*7")
        assert reply.choices[0].finish_reason is FinishReason.STOP
        assert reply.usage == Usage(input_tokens=30, output_tokens=4)
        assert endpoint.bodies[0]["stream_options"] == {"include_usage": True}

    async def test_without_a_usage_piece_it_is_estimated(self, endpoint, build):
        endpoint.handle(stream(delta("forty-two"), delta(finish="stop"), usage=None))
        assert (await build().complete(ASK, Params(stream=True))).usage.estimated

    async def test_a_stream_cut_off_is_an_error_that_is_paid_for(self, endpoint, build):
        endpoint.handle(stream(delta("forty"), done=False, usage=None))
        with pytest.raises(BrokenReplyError, match="ended before") as caught:
            await build(max_retries=1).complete(ASK, Params(stream=True))
        assert endpoint.count == caught.value.requests == 2
        assert caught.value.usage.estimated
        assert caught.value.usage.output_tokens == 2 * 2

    async def test_a_stream_cut_off_in_the_middle_of_a_piece_is_tried_again(self, endpoint, build):
        half = stream(delta("for"), b'data: {"choices": [{"del', done=False, usage=None)
        endpoint.script(half, stream(delta("42"), delta(finish="stop")))
        reply = await build().complete(ASK, Params(stream=True))
        assert (reply.content, reply.requests) == ("42", 2)

    async def test_a_retry_after_a_cut_stream_books_both(self, endpoint, build):
        endpoint.script(stream(delta("forty"), done=False, usage=None), stream(delta("42"), delta(finish="stop")))
        reply = await build().complete(ASK, Params(stream=True))
        assert reply.requests == 2
        assert reply.usage.output_tokens == 2 + 4
        assert reply.usage.estimated

    async def test_usage_that_came_before_a_stream_broke_is_not_estimated(self, endpoint, build):
        endpoint.handle(stream(delta("forty"), done=False))
        with pytest.raises(BrokenReplyError) as caught:
            await build(max_retries=0).complete(ASK, Params(stream=True))
        assert caught.value.usage == Usage(input_tokens=30, output_tokens=4)

    async def test_a_stalled_stream_times_out(self, endpoint, build):
        endpoint.handle(stream(delta("forty"), then=endpoint.released.wait()))
        with pytest.raises(CallTimeoutError) as caught:
            await build(max_retries=0, request_timeout_s=0.05).complete(ASK, Params(stream=True))
        assert caught.value.usage.output_tokens > 0

    async def test_an_error_inside_the_stream_is_typed(self, endpoint, build):
        error = {"error": {"message": "slow down", "code": 429}}
        endpoint.handle(stream(delta("4"), error, usage=None))
        with pytest.raises(RateLimitError, match="slow down") as caught:
            await build(max_retries=0).complete(ASK, Params(stream=True))
        assert caught.value.usage.output_tokens == 1

    async def test_a_whole_body_where_a_stream_was_asked_for_is_read(self, endpoint, build):
        endpoint.handle(text("42"))
        assert (await build().complete(ASK, Params(stream=True))).content == "42"

    async def test_a_stream_where_a_body_was_asked_for_is_read(self, endpoint, build):
        endpoint.handle(stream(delta("42"), delta(finish="stop")))
        assert (await build().complete(ASK, Params())).content == "42"

    async def test_garbage_in_a_stream_is_an_error(self, endpoint, build):
        endpoint.handle(stream(b"data: {not json}\n\n"))
        with pytest.raises(BrokenReplyError, match="not JSON"):
            await build(max_retries=0).complete(ASK, Params(stream=True))


class TestSamples:
    async def test_one_request_where_the_endpoint_takes_n(self, endpoint, build):
        reply = await build().complete(ASK, Params(n=5))
        assert len(reply.choices) == 5
        assert (endpoint.count, reply.requests, endpoint.bodies[0]["n"]) == (1, 1, 5)

    async def test_fewer_choices_than_asked_for_are_filled_up_and_remembered(self, endpoint, build):
        endpoint.handle(text("42", native_n=False))
        model = build()
        first = await model.complete(ASK, Params(n=3))
        assert (len(first.choices), first.requests) == (3, 3)
        assert first.usage.output_tokens == 12
        assert "asked for 3 choices, got 1" in first.notes[0]
        assert not model.abilities.native_n
        second = await model.complete(ASK, Params(n=3))
        assert (len(second.choices), second.notes) == (3, ())
        assert ["n" in body for body in endpoint.bodies] == [True] + [False] * 5

    async def test_more_choices_than_asked_for_are_dropped(self, endpoint, build):
        endpoint.handle(json(completion(*[message("42")] * 4)))
        assert len((await build().complete(ASK, Params(n=2))).choices) == 2

    async def test_an_endpoint_that_refuses_n_is_asked_one_by_one(self, endpoint, build):
        async def behave(call):
            refusal = status(400, "Unsupported parameter: 'n'", param="n")
            return await (refusal if "n" in call.body else text("42"))(call)

        endpoint.handle(behave)
        reply = await build().complete(ASK, Params(n=3))
        assert (len(reply.choices), reply.requests) == (3, 4)

    async def test_samples_one_by_one_run_together_with_seeds_of_their_own(self, endpoint, build):
        gate = asyncio.Event()
        endpoint.handle(held(gate, text("42")))
        task = asyncio.create_task(build(native_n=False).complete(ASK, Params(n=4, seed=7)))
        await endpoint.until(lambda: endpoint.in_flight == 4)
        gate.set()
        await task
        seeds = [body["seed"] for body in endpoint.bodies]
        assert seeds[0] == 7
        assert len(set(seeds)) == 4

    async def test_a_failed_sample_books_what_the_others_cost(self, endpoint, build):
        endpoint.script(text("42"), status(400), text("42"))
        with pytest.raises(RequestRejectedError) as caught:
            await build(native_n=False).complete(ASK, Params(n=3))
        assert (caught.value.requests, caught.value.usage.output_tokens) == (3, 8)

    async def test_samples_that_fail_to_fill_up_book_what_came_first(self, endpoint, build):
        endpoint.script(text("42", native_n=False), status(400))
        with pytest.raises(RequestRejectedError) as caught:
            await build().complete(ASK, Params(n=3))
        assert (caught.value.requests, caught.value.usage.output_tokens) == (3, 4)


def test_one_model_works_in_one_event_loop_after_another(unused_tcp_port):
    """Nobody closes it in between: the connections of a loop end with the loop, without a warning."""
    model = OpenAICompatibleModel("test", f"http://127.0.0.1:{unused_tcp_port}/v1", Settings(), environ={})

    async def ask():
        async with serve(unused_tcp_port) as endpoint:
            await model.complete(ASK, Params())
            return endpoint.count

    assert [asyncio.run(ask()) for _ in range(3)] == [1, 1, 1]


def test_a_base_url_with_a_secret_is_refused_without_repeating_it():
    with pytest.raises(ConfigError, match="holds a secret") as caught:
        OpenAICompatibleModel("test", "https://user:hunter2@host/v1", Settings())
    assert "hunter2" not in str(caught.value)
