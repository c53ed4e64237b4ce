"""The client against a real server on loopback."""

import asyncio

import pytest

from mas_orchestra.config import EndpointSettings, Settings, normal_base_url
from mas_orchestra.errors import (
    AuthenticationError,
    BrokenReplyError,
    CallTimeoutError,
    ConfigError,
    ContextOverflowError,
    ModelNotFoundError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
    UnreachableError,
)
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.models.limits import Limiter
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.types import Message, ResponseSchema, Role, ToolCall, ToolSpec, Usage
from support.clock import FakeClock
from support.endpoint import (
    at_most,
    completion,
    cut,
    delta,
    hang,
    held,
    html,
    json,
    message,
    queued,
    raw,
    reset,
    serve,
    slow,
    status,
    stream,
    text,
)

KEY = "sk-planted-secret-0123456789"
ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)
WEATHER = ToolSpec(name="weather", description="Weather of a city.", parameters={"type": "object", "properties": {}})


class Watch:
    """Counts how often and whether a call says that it only waits."""

    def __init__(self):
        self.entered = 0
        self.now = 0

    def waiting(self):
        return self

    def __enter__(self):
        self.entered += 1
        self.now += 1

    def __exit__(self, *_):
        self.now -= 1


@pytest.fixture
async def build(endpoint):
    """Models of the endpoint on a clock that never really waits."""
    opened = []

    def make(*, name="test", clock=None, key="", base_url="", **options):
        url = normal_base_url(base_url or endpoint.base_url)
        settings = Settings(endpoints={url: {"max_retries": 2, **options}})
        limiter = Limiter(settings.endpoint(url), clock=clock or FakeClock(auto=True))
        environ = {"MAS_API_KEY": key} if key else {}
        model = OpenAICompatibleModel(name, url, settings, environ=environ, limiter=limiter)
        opened.append(model)
        return model

    yield make
    for model in opened:
        await model.close()


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
        endpoint.handle(stream(delta("4"), error))
        with pytest.raises(RateLimitError, match="slow down"):
            await build(max_retries=0).complete(ASK, Params(stream=True))

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


class TestRetries:
    @pytest.mark.parametrize(
        ("behaviour", "error"),
        [
            (status(429), RateLimitError),
            (status(500), ServerError),
            (status(503), ServerError),
            (status(529), ServerError),
            (status(408), ServerError),
            (reset(), UnreachableError),
            (cut(b'{"choices"', declared=500), BrokenReplyError),
        ],
    )
    @pytest.mark.parametrize("max_retries", [0, 1, 3])
    async def test_what_may_pass_is_tried_exactly_so_often(self, endpoint, build, behaviour, error, max_retries):
        endpoint.handle(behaviour)
        with pytest.raises(error) as caught:
            await build(max_retries=max_retries).complete(ASK, Params())
        assert endpoint.count == caught.value.requests == max_retries + 1

    @pytest.mark.parametrize(
        ("behaviour", "error"),
        [
            (status(400), RequestRejectedError),
            (status(401), AuthenticationError),
            (status(403), AuthenticationError),
            (status(404), ModelNotFoundError),
            (status(422), RequestRejectedError),
            (status(429, code="insufficient_quota"), RateLimitError),
            (status(501), ServerError),
            (raw(b"", code=307), BrokenReplyError),
            (html(), BrokenReplyError),
            (raw(b"[]"), BrokenReplyError),
            (raw(b"{}"), BrokenReplyError),
            (raw(b'{"choices": []}'), BrokenReplyError),
            (raw(b'{"choices": [{"text": "42"}]}'), BrokenReplyError),
            (raw(b'{"choices": [{"message": {"content": 42}}]}'), BrokenReplyError),
            (raw(b'{"choices"'), BrokenReplyError),
            (raw(b""), BrokenReplyError),
            (json({"error": {"message": "no", "code": 400}}), RequestRejectedError),
        ],
    )
    async def test_what_cannot_pass_is_tried_once(self, endpoint, build, behaviour, error):
        endpoint.handle(behaviour)
        with pytest.raises(error) as caught:
            await build().complete(ASK, Params())
        assert endpoint.count == caught.value.requests == 1
        assert caught.value.endpoint == f"openai:test@{endpoint.base_url}"

    async def test_waits_as_long_as_retry_after_says(self, endpoint, build):
        endpoint.script(status(429, retry_after="3"), text("42"))
        clock, watch = FakeClock(auto=True), Watch()
        reply = await build(clock=clock).complete(ASK, Params(), queue=watch)
        assert clock.time_s >= 1_003
        assert (reply.content, reply.requests) == ("42", 2)
        assert reply.queue_s >= 3
        assert reply.latency_s < 3
        assert (watch.entered, watch.now) == (1, 0)

    async def test_gives_up_at_once_when_told_to_wait_for_too_long(self, endpoint, build):
        endpoint.handle(status(429, retry_after="7200"))
        clock = FakeClock(auto=True)
        with pytest.raises(RateLimitError, match="7200 s, longer than max_wait_s"):
            await build(clock=clock).complete(ASK, Params())
        assert (endpoint.count, clock.time_s) == (1, 1_000)

    async def test_backs_off_longer_each_time_and_says_that_it_waits(self, endpoint, build):
        endpoint.script(status(503), status(503), text("42"))
        clock, watch = FakeClock(auto=True), Watch()
        await build(clock=clock).complete(ASK, Params(), queue=watch)
        first, second = clock.waits_s[:2]
        assert 0.25 <= first <= 0.5 <= second <= 1.0
        assert (watch.entered, watch.now) == (2, 0)

    async def test_a_server_that_never_answers_times_out(self, endpoint, build):
        endpoint.handle(hang(endpoint))
        with pytest.raises(CallTimeoutError, match="request_timeout_s") as caught:
            await build(request_timeout_s=0.05, max_retries=1).complete(ASK, Params())
        assert endpoint.count == 2
        assert caught.value.usage.estimated

    async def test_a_refused_connection_says_so(self, build, unused_tcp_port):
        with pytest.raises(UnreachableError, match="is the server running"):
            await build(base_url=f"http://127.0.0.1:{unused_tcp_port}/v1").complete(ASK, Params())

    async def test_an_unknown_host_says_so_and_is_not_tried_again(self, build):
        clock = FakeClock(auto=True)
        with pytest.raises(UnreachableError, match="cannot be resolved"):
            await build(base_url="http://no-such-host.invalid/v1", clock=clock).complete(ASK, Params())
        assert clock.waits_s == []


class TestMessages:
    @pytest.mark.parametrize("code", [400, 401, 403, 429, 500])
    async def test_a_key_is_never_repeated(self, endpoint, build, code):
        endpoint.handle(status(code, f"Incorrect API key provided: {KEY}. Also sk-masked****wxyz."))
        with pytest.raises((AuthenticationError, RequestRejectedError, RateLimitError, ServerError)) as caught:
            await build(key=KEY, max_retries=0).complete(ASK, Params())
        assert "Incorrect API key" in str(caught.value)
        assert KEY not in str(caught.value)
        assert "wxyz" not in str(caught.value)

    async def test_says_which_variable_holds_the_key(self, endpoint, build):
        endpoint.handle(status(401))
        with pytest.raises(AuthenticationError, match="key from MAS_API_KEY"):
            await build(key=KEY).complete(ASK, Params())
        with pytest.raises(AuthenticationError, match="no key was sent; set MAS_API_KEY"):
            await build().complete(ASK, Params())

    async def test_nothing_that_is_shown_holds_the_key(self, build):
        model = build(key=KEY, headers={"X-Token": "planted-header"})
        shown = f"{model!r} {model.uri} {model._transport._credentials!r} {model._options!r}"
        assert KEY not in shown
        assert "planted-header" not in shown

    async def test_a_long_body_is_quoted_short(self, endpoint, build):
        endpoint.handle(status(400, "x" * 10_000))
        with pytest.raises(RequestRejectedError) as caught:
            await build().complete(ASK, Params())
        assert len(str(caught.value)) < 600

    async def test_a_wrong_model_lists_what_there_is(self, endpoint, build):
        endpoint.models = ["llama-3.1-8b", "qwen2.5-7b"]
        endpoint.handle(status(404, "The model does not exist"))
        with pytest.raises(ModelNotFoundError, match=r"Did you mean 'llama-3\.1-8b'\? It lists: llama-3.1-8b, qwen"):
            await build(name="lama-3.1-8b").complete(ASK, Params())

    async def test_a_wrong_base_url_says_so(self, endpoint, build):
        wrong = endpoint.base_url.removesuffix("/v1")
        with pytest.raises(ModelNotFoundError, match="no chat endpoint under the base URL .*; try .*/v1"):
            await build(base_url=wrong).complete(ASK, Params())

    async def test_a_web_page_asks_about_the_base_url(self, endpoint, build):
        endpoint.handle(html())
        with pytest.raises(BrokenReplyError, match="HTML page; is .* the base URL"):
            await build().complete(ASK, Params())


OVERFLOWS = [
    "This model's maximum context length is 512 tokens. However, you requested 700 tokens (300 in the messages, 400 in"
    " the completion). Please reduce the length of the messages or completion.",
    "'max_tokens' or 'max_completion_tokens' is too large: 400. This model's maximum context length is 512 tokens and"
    " your request has 300 input tokens (400 > 512 - 300).",
    "input length and `max_tokens` exceed context limit: 300 + 400 > 512, decrease input length or `max_tokens`",
    "Requested token count exceeds the model's maximum context length of 512 tokens. You requested a total of 700"
    " tokens: 300 tokens from the input messages and 400 tokens for the completion.",
]


class TestWindow:
    @pytest.mark.parametrize("words", OVERFLOWS)
    async def test_max_tokens_that_do_not_fit_are_lowered_and_noted(self, endpoint, build, words):
        async def behave(call):
            return await (status(400, words) if call.body["max_tokens"] > 212 else text("42"))(call)

        endpoint.handle(behave)
        reply = await build().complete(ASK, Params(max_tokens=400))
        assert reply.content == "42"
        assert endpoint.bodies[-1]["max_tokens"] == 212
        assert reply.notes == ("max_tokens lowered from 400 to 212: prompt 300, window 512 tokens",)

    async def test_the_window_is_remembered(self, endpoint, build):
        endpoint.script(status(400, OVERFLOWS[0]), text("42"))
        model = build()
        await model.complete(ASK, Params(max_tokens=400))
        await model.complete(ASK, Params(max_tokens=4_000))
        assert model.abilities.context_tokens == 512
        assert endpoint.count == 3
        assert endpoint.bodies[-1]["max_tokens"] < 512

    async def test_a_configured_window_lowers_max_tokens_before_sending(self, endpoint, build):
        prompt = (Message(role=Role.USER, content="word " * 240),)
        reply = await build(context_tokens=512).complete(prompt, Params(max_tokens=400))
        assert endpoint.bodies[0]["max_tokens"] == 208
        assert reply.notes == ("max_tokens lowered from 400 to 208: prompt about 304, window 512 tokens",)

    async def test_a_prompt_over_the_configured_window_is_not_sent(self, endpoint, build):
        prompt = (Message(role=Role.USER, content="word " * 600),)
        with pytest.raises(ContextOverflowError, match=r"about 754 tokens .* window 512"):
            await build(context_tokens=512).complete(prompt, Params(max_tokens=400))
        assert endpoint.count == 0

    @pytest.mark.parametrize(
        ("words", "fields", "sizes"),
        [
            (
                "This model's maximum context length is 512 tokens. However, your messages resulted in 600 tokens.",
                {"code": "context_length_exceeded"},
                "prompt 600, window 512",
            ),
            ("request (600 tokens) exceeds the available context size (512 tokens)", {}, "prompt 600, window 512"),
            (
                "the request exceeds the available context size. try increasing the context size",
                {"type": "exceed_context_size_error", "n_prompt_tokens": 600, "n_ctx": 512},
                "prompt 600, window 512",
            ),
            ("prompt is too long: 600 tokens > 512 maximum", {}, "prompt 600, window 512"),
            (
                "The input token count (600) exceeds the maximum number of tokens allowed (512).",
                {},
                "prompt 600, window 512",
            ),
            (
                "The input (600 tokens) is longer than the model's context length (512 tokens).",
                {},
                "prompt 600, window 512",
            ),
            (
                "Prompt contains 600 tokens and 0 draft tokens, too large for model with 512 maximum context length",
                {},
                "prompt 600, window 512",
            ),
            ("Input is too long for requested model.", {}, "prompt unknown, window unknown"),
        ],
    )
    async def test_a_prompt_that_is_too_long_gives_the_sizes(self, endpoint, build, words, fields, sizes):
        endpoint.handle(status(400, words, **fields))
        with pytest.raises(ContextOverflowError, match=sizes):
            await build().complete(ASK, Params(max_tokens=400))
        assert endpoint.count == 1

    async def test_an_endpoint_that_keeps_moving_its_window_is_given_up(self, endpoint, build):
        async def behave(call):
            window = 300 + call.body["max_tokens"] - 1
            return await status(400, f"maximum context length is {window} tokens, 300 in the messages")(call)

        endpoint.handle(behave)
        with pytest.raises(ContextOverflowError):
            await build().complete(ASK, Params(max_tokens=4_000))
        assert endpoint.count <= 10


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
        while endpoint.in_flight < 4:
            await asyncio.sleep(0.001)
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


class TestDialect:
    @pytest.mark.parametrize(
        ("field", "params", "words"),
        [
            ("stream_options", Params(stream=True), "Unrecognized request argument supplied: stream_options"),
            ("seed", Params(seed=3), "seed: Extra inputs are not permitted"),
            (
                "temperature",
                Params(temperature=0.7),
                "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is"
                " supported.",
            ),
            (
                "response_format",
                Params(response_schema=ResponseSchema(name="a", schema={})),
                "response_format json_schema is not supported",
            ),
        ],
    )
    async def test_an_optional_field_that_is_refused_is_left_out_and_noted(self, endpoint, build, field, params, words):
        async def behave(call):
            return await (status(400, words) if field in call.body else text("42"))(call)

        endpoint.handle(behave)
        model = build()
        reply = await model.complete(ASK, params)
        assert field in reply.notes[0]
        await model.complete(ASK, params)
        assert [field in body for body in endpoint.bodies] == [True, False, False]

    async def test_max_tokens_goes_by_its_newer_name_where_the_old_one_is_refused(self, endpoint, build):
        async def behave(call):
            words = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
            return await (status(400, words, param="max_tokens") if "max_tokens" in call.body else text("42"))(call)

        endpoint.handle(behave)
        await build().complete(ASK, Params(max_tokens=50))
        assert endpoint.bodies[-1]["max_completion_tokens"] == 50

    async def test_a_wrong_value_is_not_taken_for_a_refused_field(self, endpoint, build):
        endpoint.handle(status(400, "Invalid 'temperature': must be at most 2", param="temperature"))
        with pytest.raises(RequestRejectedError):
            await build().complete(ASK, Params(temperature=3.0))
        assert endpoint.count == 1


class TestManyCalls:
    async def test_everything_at_once_on_an_endpoint_that_refuses_more_than_16(self, endpoint, build):
        endpoint.handle(at_most(16, slow(0.002, text("42")), status(429)))
        model = build(max_retries=8)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.complete(ASK, Params())) for _ in range(300)]
        assert [task.result().content for task in tasks] == ["42"] * 300
        assert model._limiter.in_flight == 0

    async def test_everything_at_once_on_a_server_that_lets_more_than_16_wait(self, endpoint):
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

    async def test_one_refusal_holds_back_every_caller_of_the_endpoint(self, endpoint, build):
        endpoint.script(status(429, retry_after="60"), text("42"))
        clock = FakeClock()
        model, other = build(clock=clock), None
        first = asyncio.create_task(model.complete(ASK, Params()))
        while endpoint.count < 1 or model._limiter.in_flight:
            await asyncio.sleep(0.001)
        other = asyncio.create_task(model.complete(ASK, Params()))
        await clock.advance(59.9)
        assert endpoint.count == 1
        await clock.advance(0.2)
        assert [(await task).content for task in (first, other)] == ["42", "42"]

    async def test_models_of_one_endpoint_share_its_limit(self, endpoint):
        gate = asyncio.Event()
        endpoint.handle(held(gate, text("42")))
        settings = Settings(endpoints={endpoint.base_url: {"concurrency": 2}})
        models = [OpenAICompatibleModel(name, endpoint.base_url, settings, environ={}) for name in ("a", "b")]
        tasks = [asyncio.create_task(model.complete(ASK, Params())) for model in models for _ in range(3)]
        while endpoint.in_flight < 2:
            await asyncio.sleep(0.001)
        gate.set()
        for task in tasks:
            await task
        assert endpoint.peak == 2
        for model in models:
            await model.close()

    async def test_a_cancelled_call_ends_its_request_and_frees_its_place(self, endpoint, build):
        endpoint.handle(hang(endpoint))
        model = build(concurrency=1)
        task = asyncio.create_task(model.complete(ASK, Params()))
        while not endpoint.in_flight:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert model._limiter.in_flight == 0
        endpoint.handle(text("42"))
        assert (await model.complete(ASK, Params())).content == "42"


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
