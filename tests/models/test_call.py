"""What a call does about failures, against a real server on loopback."""

import asyncio

import pytest

from mas_orchestra.errors import (
    AuthenticationError,
    BrokenReplyError,
    CallTimeoutError,
    ContextOverflowError,
    ModelNotFoundError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
    UnreachableError,
)
from mas_orchestra.models.base import Params
from mas_orchestra.types import Message, ResponseSchema, Role
from support.clock import FakeClock
from support.endpoint import cut, hang, html, json, raw, reset, status, text
from support.watch import Watch

KEY = "sk-planted-secret-0123456789"
ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)


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
        shown = f"{model!r} {model.uri} {model._target.transport._credentials!r} {model._target!r}"
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
        with pytest.raises(ModelNotFoundError, match=r"no chat endpoint under the base URL .*; try .*/v1"):
            await build(base_url=wrong).complete(ASK, Params())

    async def test_a_web_page_asks_about_the_base_url(self, endpoint, build):
        endpoint.handle(html())
        with pytest.raises(BrokenReplyError, match=r"HTML page; is .* the base URL"):
            await build().complete(ASK, Params())


OVERFLOWS = [
    (
        "This model's maximum context length is 512 tokens. However, you requested 700 tokens (300 in the messages, 400"
        " in the completion). Please reduce the length of the messages or completion."
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 400. This model's maximum context length is 512 tokens"
        " and your request has 300 input tokens (400 > 512 - 300)."
    ),
    "input length and `max_tokens` exceed context limit: 300 + 400 > 512, decrease input length or `max_tokens`",
    (
        "Requested token count exceeds the model's maximum context length of 512 tokens. You requested a total of 700"
        " tokens: 300 tokens from the input messages and 400 tokens for the completion."
    ),
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


class TestDialect:
    async def test_one_schema_that_is_refused_costs_no_other_schema(self, endpoint, build):
        async def behave(call):
            name = call.body.get("response_format", {}).get("json_schema", {}).get("name")
            refusal = status(400, "Invalid schema for response_format 'odd': 'oneOf' is not permitted")
            return await (refusal if name == "odd" else text("42"))(call)

        endpoint.handle(behave)
        model = build()
        odd, even = (Params(response_schema=ResponseSchema(name=name, schema={})) for name in ("odd", "even"))
        assert "Invalid schema" in (await model.complete(ASK, odd)).notes[0]
        assert (await model.complete(ASK, odd)).notes == ("response schema left out: the endpoint cannot enforce it",)
        assert (await model.complete(ASK, even)).notes == ()
        assert ["response_format" in body for body in endpoint.bodies] == [True, False, False, True]
        assert model.abilities.json_schema

    async def test_calls_that_were_under_way_when_a_field_was_refused_do_without_it_too(self, endpoint, build):
        async def behave(call):
            if "response_format" in call.body:
                await endpoint.until(lambda: endpoint.count >= 4)
                return await status(400, "response_format is not supported")(call)
            return await text("42")(call)

        endpoint.handle(behave)
        model, params = build(), Params(response_schema=ResponseSchema(name="a", schema={}))
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(model.complete(ASK, params)) for _ in range(4)]
        assert [call.result().content for call in calls] == ["42"] * 4
        assert endpoint.count == 8
        assert not model.abilities.json_schema

    @pytest.mark.parametrize(
        ("field", "params", "words"),
        [
            ("stream_options", Params(stream=True), "Unrecognized request argument supplied: stream_options"),
            ("seed", Params(seed=3), "seed: Extra inputs are not permitted"),
            (
                "temperature",
                Params(temperature=0.7),
                (
                    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value"
                    " is supported."
                ),
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
