"""Replies kept on disk: what is, what is not, and what a broken file does."""

import subprocess
import sys
from dataclasses import replace
from types import MappingProxyType

import pytest

from mas_orchestra.config import Settings
from mas_orchestra.errors import FileFormatError, RateLimitError
from mas_orchestra.models.base import Choice, FinishReason, Params
from mas_orchestra.models.cache import CachedModel
from mas_orchestra.models.openai_compatible import OpenAICompatibleModel
from mas_orchestra.models.script import Rule
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.types import Message, ResponseSchema, Role, ToolCall, ToolSpec, Usage

ASK = (Message(role=Role.USER, content="What is 6 times 7?"),)


def build(folder, *replies, name="m", **rule):
    inner = ScriptedModel(default=Rule(reply=replies or ("42",), **rule), name=name)
    return CachedModel(inner, folder), inner


class TestHits:
    async def test_the_same_call_is_paid_once(self, tmp_path):
        model, inner = build(tmp_path)
        first = await model.complete(ASK, Params())
        second = await model.complete(ASK, Params())
        assert inner.calls == 1
        assert (first.cached, second.cached) == (False, True)
        assert second.choices == first.choices
        assert (second.usage, second.requests, second.latency_s) == (Usage(), 0, 0.0)
        assert model.cost_usd(second.usage) == 0.0
        assert (model.hits, model.misses) == (1, 1)

    async def test_everything_of_a_choice_comes_back(self, tmp_path):
        choice = Choice(
            content="é\ud83d\ude00 <b>".encode("utf-16", "surrogatepass").decode("utf-16"),
            reasoning="because",
            tool_calls=(ToolCall(id="c1", name="search", arguments='{"q": "x"}'),),
            finish_reason=FinishReason.TOOL_CALLS,
        )
        model = CachedModel(ScriptedModel.from_function(lambda *_: choice), tmp_path)
        await model.complete(ASK, Params())
        assert (await model.complete(ASK, Params())).choices == (choice,)

    async def test_another_process_finds_it(self, tmp_path):
        model, _ = build(tmp_path)
        await model.complete(ASK, Params())
        again, inner = build(tmp_path, "another reply")
        assert (await again.complete(ASK, Params())).content == "42"
        assert inner.calls == 0

    async def test_fewer_samples_are_found_and_more_are_asked_for(self, tmp_path):
        model, inner = build(tmp_path, "a", "b", "c", "d")
        await model.complete(ASK, Params(n=3))
        fewer = await model.complete(ASK, Params(n=2))
        assert ([choice.content for choice in fewer.choices], inner.calls) == (["a", "b"], 1)
        assert not (await model.complete(ASK, Params(n=4))).cached

    async def test_how_it_was_sent_does_not_matter(self, tmp_path):
        model, inner = build(tmp_path)
        await model.complete(ASK, Params())
        assert (await model.complete(ASK, Params(stream=True))).cached
        assert inner.calls == 1


TOOL = ToolSpec(name="t", description="", parameters={"type": "object"})
OTHERS = [
    (ASK, Params(temperature=0.5)),
    (ASK, Params(top_p=0.5)),
    (ASK, Params(max_tokens=5)),
    (ASK, Params(seed=1)),
    (ASK, Params(stop=("x",))),
    (ASK, Params(tools=(TOOL,))),
    (ASK, Params(tools=(replace(TOOL, parameters=MappingProxyType({"type": "array"})),))),
    (ASK, Params(response_schema=ResponseSchema(name="s", schema={}))),
    ((*ASK, *ASK), Params()),
    ((replace(ASK[0], role=Role.SYSTEM),), Params()),
    ((replace(ASK[0], content="What is 6 times 7? "),), Params()),
    ((replace(ASK[0], role=Role.TOOL, tool_call_id="a"),), Params()),
    ((replace(ASK[0], content="half a pair: \ud800"),), Params()),
]


async def test_whatever_differs_is_another_call(tmp_path):
    model, inner = build(tmp_path)
    for messages, params in [(ASK, Params()), *OTHERS]:
        assert not (await model.complete(messages, params)).cached
    assert inner.calls == len(OTHERS) + 1


async def test_another_model_is_another_call(tmp_path):
    await build(tmp_path, name="one")[0].complete(ASK, Params())
    assert not (await build(tmp_path, name="two")[0].complete(ASK, Params())).cached


class TestWhatIsNotKept:
    @pytest.mark.parametrize(
        "reply",
        [
            {"text": "I cannot help with that.", "finish_reason": "content_filter"},
            {"text": "It is for", "finish_reason": "length"},
            {"text": "It is", "finish_reason": "unknown"},
            {"text": ""},
            {"text": " \n"},
            {"text": "", "reasoning": "hm"},
        ],
    )
    async def test_refusals_cut_off_and_empty_replies(self, tmp_path, reply):
        model, inner = build(tmp_path, reply, "42")
        await model.complete(ASK, Params())
        second = await model.complete(ASK, Params())
        assert (second.content, second.cached, inner.calls) == ("42", False, 2)

    async def test_errors(self, tmp_path):
        model, inner = build(tmp_path, fail="rate_limited", fail_on=(1,))
        with pytest.raises(RateLimitError):
            await model.complete(ASK, Params())
        assert not (await model.complete(ASK, Params())).cached
        assert inner.calls == 2

    async def test_one_bad_sample_is_asked_for_again_with_the_others(self, tmp_path):
        model, inner = build(tmp_path, "a", {"text": "", "finish_reason": "content_filter"}, "b")
        await model.complete(ASK, Params(n=2))
        assert not (await model.complete(ASK, Params(n=2))).cached
        assert inner.calls == 2


class TestBrokenFiles:
    @pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[]", b"\xff\xfe", b"null"])
    async def test_a_broken_file_is_a_miss_with_a_warning_and_mended(self, tmp_path, data):
        model, inner = build(tmp_path)
        await model.complete(ASK, Params())
        (file,) = tmp_path.rglob("*.json")
        file.write_bytes(data)
        with pytest.warns(RuntimeWarning, match="asked again"):
            assert not (await model.complete(ASK, Params())).cached
        assert (await model.complete(ASK, Params())).cached
        assert inner.calls == 2

    async def test_a_changed_reply_is_noticed(self, tmp_path):
        model, _ = build(tmp_path)
        await model.complete(ASK, Params())
        (file,) = tmp_path.rglob("*.json")
        file.write_bytes(file.read_bytes().replace(b"42", b"43"))
        with pytest.warns(RuntimeWarning, match="damaged"):
            assert (await model.complete(ASK, Params())).content == "42"

    async def test_a_folder_that_cannot_be_written_costs_a_warning_not_the_reply(self, tmp_path):
        model, _ = build(tmp_path / "cache")
        (tmp_path / "cache").rmdir()
        with pytest.warns(RuntimeWarning, match="cannot be written"):
            assert (await model.complete(ASK, Params())).content == "42"

    async def test_a_reply_that_cannot_be_kept_is_not_lost(self, tmp_path):
        model = CachedModel(ScriptedModel.from_function(lambda *_: "half a pair: \ud800"), tmp_path)
        with pytest.warns(RuntimeWarning, match="cannot be written"):
            assert (await model.complete(ASK, Params())).content == "half a pair: \ud800"
        assert not list(tmp_path.rglob("*.*"))

    def test_a_folder_that_cannot_be_made_is_an_error(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(FileFormatError, match=r"cache folder .* cannot be made"):
            build(tmp_path / "file" / "cache")


FILL = """
import asyncio, sys
from pathlib import Path
from mas_orchestra.models import CachedModel, Params, Rule, ScriptedModel
from mas_orchestra.types import Message, Role

async def fill(folder):
    model = CachedModel(ScriptedModel(default=Rule(reply="42")), folder)
    for number in range(40):
        await model.complete((Message(role=Role.USER, content=str(number)),), Params())

asyncio.run(fill(Path(sys.argv[1])))
"""


def test_several_processes_share_a_folder(tmp_path):
    workers = [subprocess.Popen([sys.executable, "-W", "error", "-c", FILL, str(tmp_path)]) for _ in range(2)]
    assert [worker.wait() for worker in workers] == [0, 0]
    assert len(list(tmp_path.rglob("*.json"))) == 40
    assert not list(tmp_path.rglob("*.part"))


async def test_no_secret_is_in_a_file_or_its_name(tmp_path, endpoint):
    settings = Settings(endpoints={endpoint.base_url: {"headers": {"X-Key": "planted-header"}}})
    environ = {"MAS_API_KEY": "planted-secret"}
    model = CachedModel(OpenAICompatibleModel("m", endpoint.base_url, settings, environ=environ), tmp_path)
    await model.complete(ASK, Params())
    assert model.abilities.tools
    assert model.cost_usd(Usage(input_tokens=1)) is None
    rotated = CachedModel(OpenAICompatibleModel("m", endpoint.base_url, Settings(), environ={}), tmp_path)
    assert (await rotated.complete(ASK, Params())).cached
    for file in tmp_path.rglob("*.json"):
        assert b"planted" not in file.read_bytes()
    await model.close()
    await rotated.close()
