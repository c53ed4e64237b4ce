"""The shipped fake: rules, failures, counting, and what is refused."""

import asyncio

import orjson
import pytest

from mas_orchestra.errors import CallError, FileFormatError, RateLimitError, RequestRejectedError, ServerError
from mas_orchestra.models.base import Choice, FinishReason, Params
from mas_orchestra.models.script import FAILURES, Rule, Script
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.types import Message, Role, ToolCall, Usage


def say(*texts, role=Role.USER):
    return tuple(Message(role=role, content=text) for text in texts)


async def ask(model, text, **params):
    return await model.complete(say(text), Params(**params))


class TestRules:
    async def test_the_first_rule_that_matches_replies(self):
        model = ScriptedModel([Rule(contains="six", reply="6"), Rule(contains="x", reply="24")])
        assert [(await ask(model, text)).content for text in ("six", "x")] == ["6", "24"]

    async def test_all_conditions_must_hold(self):
        rule = Rule(contains=["a", "b"], regex=r"c\d", role=Role.SYSTEM, reply="yes")
        model = ScriptedModel([rule], default=Rule(reply="no"))
        system = say("a b c1", role=Role.SYSTEM)
        assert (await model.complete(system, Params())).content == "yes"
        for other in (say("a b c1"), say("a c1", role=Role.SYSTEM), say("a b c", role=Role.SYSTEM), ()):
            assert (await model.complete(other, Params())).content == "no"

    async def test_the_last_message_only(self):
        model = ScriptedModel([Rule(contains="first", last_only=True, reply="yes")], default=Rule(reply="no"))
        assert (await model.complete(say("first", "second"), Params())).content == "no"
        assert (await model.complete(say("zeroth", "first"), Params())).content == "yes"

    async def test_a_prompt_without_a_rule_is_an_error_that_shows_it(self):
        model = ScriptedModel([Rule(contains="a", reply="b")], name="demo.toml")
        with pytest.raises(RequestRejectedError, match=r"scripted:demo\.toml: none of its 1 rules .* 'zzz'; add"):
            await ask(model, "zzz")

    @pytest.mark.parametrize(
        "pattern", ["a*", "a+b", "(a{1,9}){1,9}", "(?:a?b){0,5}", r"(\w{1,40}\s{0,9}){2,3}", ".{0,1001}", r"(a)\1*"]
    )
    def test_a_pattern_that_could_be_slow_is_refused(self, pattern):
        with pytest.raises(ValueError, match="could be slow"):
            Rule(regex=pattern, reply="x")

    @pytest.mark.parametrize("pattern", [r"step \d{1,3}", "(?i)cat|dog", "^Question:", r"[a-z]{3}-[0-9]{2}", "(ab){2}"])
    def test_a_bounded_pattern_is_taken(self, pattern):
        assert Rule(regex=pattern, reply="x").regex == pattern

    def test_a_broken_pattern_is_refused(self):
        with pytest.raises(ValueError, match="is no pattern"):
            Rule(regex="(", reply="x")


class TestReplies:
    async def test_samples_and_calls_go_through_the_replies_and_the_last_repeats(self):
        model = ScriptedModel(default=Rule(reply=["a", "b", "c"]))
        first = await ask(model, "q", n=2)
        assert [choice.content for choice in first.choices] == ["a", "b"]
        assert [(await ask(model, "q")).content for _ in range(3)] == ["b", "c", "c"]

    async def test_another_conversation_starts_from_the_first_reply(self):
        model = ScriptedModel(default=Rule(reply=["a", "b"]))
        assert [(await ask(model, text)).content for text in ("q", "other", "q")] == ["a", "a", "b"]

    async def test_all_calls_of_a_rule_may_count(self):
        model = ScriptedModel(default=Rule(reply=["a", "b"], count_by="rule"))
        assert [(await ask(model, text)).content for text in ("q", "other")] == ["a", "b"]

    async def test_tool_calls_reasoning_and_finish_reason(self):
        call = {"name": "search", "arguments": {"query": "x"}}
        broken = {"name": "search", "arguments": "{oops"}
        replies = [
            {"text": "", "tool_calls": [call, broken], "reasoning": "look it up"},
            {"text": "cut", "finish_reason": "length"},
        ]
        model = ScriptedModel(default=Rule(reply=replies))
        first, second = (await ask(model, "q", n=2)).choices
        assert first == Choice(
            content="",
            reasoning="look it up",
            tool_calls=(
                ToolCall(id="call_1", name="search", arguments='{"query":"x"}'),
                ToolCall(id="call_2", name="search", arguments="{oops"),
            ),
            finish_reason=FinishReason.TOOL_CALLS,
        )
        assert second.finish_reason is FinishReason.LENGTH

    async def test_usage_is_given_or_follows_from_the_texts(self):
        given = ScriptedModel(default=Rule(reply="42", usage={"input_tokens": 7, "estimated": True}))
        assert (await ask(given, "q")).usage == Usage(input_tokens=7, estimated=True)
        measured = (await ask(ScriptedModel(default=Rule(reply="x" * 40)), "y" * 40)).usage
        assert measured == Usage(input_tokens=14, output_tokens=10)

    async def test_latency_passes_on_the_sleep_it_was_given(self):
        slept = []

        async def sleep(seconds):
            slept.append(seconds)

        reply = await ask(ScriptedModel(default=Rule(reply="42", latency_s=2.5), sleep=sleep), "q")
        assert slept == [2.5]
        assert reply.latency_s == 2.5


class TestFailures:
    @pytest.mark.parametrize("code", sorted(FAILURES))
    async def test_every_call_error_can_be_asked_for(self, code):
        with pytest.raises(CallError) as caught:
            await ask(ScriptedModel(default=Rule(fail=code)), "q")
        assert caught.value.code == code

    async def test_only_some_calls_fail(self):
        model = ScriptedModel(default=Rule(reply="42", fail="rate_limited", fail_on=[2]))
        assert (await ask(model, "q")).content == "42"
        with pytest.raises(RateLimitError):
            await ask(model, "q")
        assert (await ask(model, "q")).content == "42"

    async def test_one_of_many_calls_fails_whatever_their_order(self):
        sleeping = asyncio.Event()

        async def sleep(_):
            await sleeping.wait()

        rule = Rule(reply="42", fail="server_error", fail_on=[17], latency_s=1)
        model = ScriptedModel(default=rule, sleep=sleep)
        tasks = [asyncio.create_task(ask(model, "q")) for _ in range(64)]
        await asyncio.sleep(0)
        assert (model.in_flight, model.peak_in_flight) == (64, 64)
        sleeping.set()
        await asyncio.wait(tasks)
        failed = [number for number, task in enumerate(tasks, start=1) if task.exception()]
        assert failed == [17]
        assert isinstance(tasks[16].exception(), ServerError)
        assert (model.in_flight, model.calls) == (0, 64)


class TestFunctions:
    async def test_a_function_replies_for_each_sample(self):
        numbers = iter(range(9))
        model = ScriptedModel.from_function(lambda messages, params: f"{messages[-1].content}{next(numbers)}")
        assert [choice.content for choice in (await ask(model, "q", n=3)).choices] == ["q0", "q1", "q2"]

    async def test_a_function_may_give_a_choice_or_fail(self):
        model = ScriptedModel.from_function(lambda *_: Choice(content="", finish_reason=FinishReason.LENGTH), name="f")
        assert (await ask(model, "q")).choices[0].finish_reason is FinishReason.LENGTH
        assert model.uri == "scripted:f"

        def fail(messages, params):
            raise RateLimitError("no")

        with pytest.raises(RateLimitError):
            await ask(ScriptedModel.from_function(fail), "q")


TOML = """
tools = false
context_tokens = 4096
price = { input = 1, output = 2 }
default = { reply = "?" }

[[rules]]
contains = "6 times 7"
reply = "42"

[[rules]]
regex = "step \\\\d{1,3}"
reply = [{ text = "done", reasoning = "easy" }, "again"]
"""


class TestFiles:
    @pytest.mark.parametrize("form", ["toml", "json"])
    async def test_a_file_in_either_form(self, tmp_path, form):
        path = tmp_path / f"script.{form}"
        if form == "toml":
            path.write_text(TOML)
        else:
            import tomllib

            path.write_bytes(orjson.dumps(tomllib.loads(TOML)))
        model = ScriptedModel.open(path)
        assert [(await ask(model, text)).content for text in ("6 times 7?", "step 12", "what")] == ["42", "done", "?"]
        assert not model.abilities.tools
        assert model.abilities.context_tokens == 4096
        assert model.cost_usd(Usage(input_tokens=1_000_000, output_tokens=1_000_000)) == 3
        await model.close()

    def test_a_script_costs_nothing_unless_it_says_so(self):
        assert ScriptedModel().cost_usd(Usage(input_tokens=10)) == 0.0

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("rules = 3", r"rules: Input should be a valid tuple"),
            ("rulez = []", r"rulez: Extra inputs"),
            ("[[rules]]\ncontains = 'a'", r"rules\.0: .*needs a `reply`"),
            ("[[rules]]\nreply = 'a'", r"rule 1 has no condition"),
            ("[[rules]]\ncontains = 'a'\nfail = 'oops'", r"unknown failure 'oops'; known: authentication"),
            ("[[rules]]\ncontains = 'a'\nfail = 'rate_limited'\nfail_on = [1]", "needs a `reply`"),
            (
                "[[rules]]\ncontains = 'a'\nreply = { text = 'a', finish_reason = 'end' }",
                "finish_reason: Input should",
            ),
            ("rules = [", "is no script"),
        ],
    )
    def test_a_wrong_file_says_where_and_what(self, tmp_path, text, words):
        path = tmp_path / "script.toml"
        path.write_text(text)
        with pytest.raises(FileFormatError, match=words) as caught:
            Script.read(path)
        assert str(path) in str(caught.value)

    @pytest.mark.parametrize(("name", "data"), [("a.json", b"{"), ("a.toml", b"\xff")])
    def test_a_file_that_is_neither_says_so(self, tmp_path, name, data):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match="is no script"):
            Script.read(path)
