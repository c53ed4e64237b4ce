"""What goes wrong for people who type ``mas solve``: a clear message, the right exit code, nothing paid for lost."""

import json as js
import re

import pytest

from mas_orchestra.cli.boundary import ExitCode
from mas_orchestra.run import read_trace
from mas_orchestra.types import OutcomeStatus
from support.context import says
from support.endpoint import completion, cut, hang, html, json, message, raw, status, stream, text

ANSWER = says("42")
COT = ("What is 6 times 7?", "--agent", "cot")


def clean(ended, code):
    """Exit code, nothing on stdout, no traceback, no key, and a last word that says why."""
    assert ended.code == code, ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert "Error: " in ended.err


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (status(401, "bad key"), ["authentication", "refused with 401", "MAS_API_KEY"]),
        (status(403, "no access"), ["authentication", "refused with 403"]),
        (status(404, "no such model"), ["model_not_found", "lists 'test' but does not serve chat completions with it"]),
        (status(429, "slow down", retry_after="0.01"), ["rate_limited", "too many requests (429)", "after 2 requests"]),
        (status(429, "slow down", retry_after="9999"), ["rate_limited", "asks to wait 9999 s"]),
        (status(429, "no money left", code="insufficient_quota"), ["quota is used up", "waiting does not help"]),
        (status(500, "oops"), ["server_error", "the endpoint failed (500)"]),
        (status(400, "bad role"), ["request_rejected", "bad role"]),
        (html(), ["broken_reply", "base URL"]),
        (raw(b'{"choices": "none"}'), ["broken_reply"]),
        (raw(b"\xff\xfe\x00"), ["broken_reply"]),
        (cut(b'{"choices": [{"mess', declared=1_000), ["broken_reply", "broke off half-way"]),
        (stream({"choices": [{"index": 0, "delta": {"content": "4"}}]}, done=False), ["broken_reply"]),
    ],
    ids=[
        "401",
        "403",
        "404",
        "429 storm",
        "429 for hours",
        "quota",
        "500",
        "400",
        "html",
        "odd",
        "bytes",
        "cut",
        "stream",
    ],
)
async def test_a_service_that_refuses_or_breaks(endpoint, mas, tmp_path, behaviour, words):
    endpoint.handle(behaviour)
    ended = await mas(*COT, "--trace", "run.json")

    clean(ended, ExitCode.FAILED)
    for word in words:
        assert word in ended.err
    assert "mas models check" in ended.err
    assert read_trace(tmp_path / "run.json").status is OutcomeStatus.ENDPOINT_ERROR


async def test_a_storm_of_refusals_costs_no_more_requests_than_were_asked_for(endpoint, mas):
    endpoint.handle(status(429, retry_after="0.01"))
    ended = await mas("Q?", "--agent", "debate:4x2", max_retries=2)

    clean(ended, ExitCode.FAILED)
    assert endpoint.count <= 4 * 3


async def test_a_host_that_is_not_there(endpoint, mas):
    ended = await mas(*COT, url="openai:test@http://127.0.0.1:9/v1", max_retries=0)
    clean(ended, ExitCode.FAILED)
    assert "connection to 127.0.0.1:9 refused; is the server running?" in ended.err


async def test_a_key_that_is_not_set(endpoint, mas):
    ended = await mas(*COT, url="openai:gpt-4o-mini")
    clean(ended, ExitCode.USAGE)
    assert "set OPENAI_API_KEY in the environment. Nothing was asked." in ended.err


async def test_a_key_is_never_shown(endpoint, mas, tmp_path, monkeypatch):
    monkeypatch.setenv("MAS_API_KEY", "very-secret-key-0123")
    endpoint.handle(status(401, "wrong key very-secret-key-0123"))
    ended = await mas(*COT, "--trace", "run.json")

    clean(ended, ExitCode.FAILED)
    assert endpoint.calls[0].request.headers["Authorization"] == "Bearer very-secret-key-0123"
    assert "very-secret" not in ended.err + (tmp_path / "run.json").read_text()
    assert "key from MAS_API_KEY" in ended.err


async def test_a_server_that_hangs(endpoint, mas):
    endpoint.handle(hang(endpoint))
    ended = await mas(*COT, max_retries=0, request_timeout_s=0.3)
    clean(ended, ExitCode.FAILED)
    assert "not a byte for 0.3 s (request_timeout_s)" in ended.err
    assert "at least" in ended.err, "a prompt that may be billed is counted"


async def test_a_server_that_hangs_after_the_plan_keeps_the_plan(endpoint, mas, tmp_path):
    plan = {"thinking": "", "steps": [{"id": "a", "agent": "CoTAgent", "input": ""}], "edges": []}
    endpoint.script(text(js.dumps(plan)), hang(endpoint))
    ended = await mas("Q?", "--timeout", "1", "--trace", "run.json", request_timeout_s=60)

    clean(ended, ExitCode.FAILED)
    assert "--timeout" in ended.err
    outcome = read_trace(tmp_path / "run.json")
    assert (outcome.status, outcome.plan.steps[0].id) == (OutcomeStatus.TIMED_OUT, "a")
    assert outcome.planning[0].usage.output_tokens == 4


async def test_an_endpoint_without_usage(endpoint, mas):
    endpoint.handle(text(ANSWER, usage=None))
    ended = await mas(*COT)
    assert (ended.code, ended.out) == (ExitCode.DONE, "42\n")
    assert re.search(r"answered: .*at least \d+ tokens.*cost unknown", ended.err)


@pytest.mark.parametrize("content", ["", "  \n", None])
async def test_an_empty_reply(endpoint, mas, content):
    endpoint.handle(json(completion(message(content))))
    ended = await mas(*COT)
    clean(ended, ExitCode.FAILED)
    assert "empty_reply" in ended.err
    assert "2 calls" in ended.err


async def test_a_prompt_longer_than_the_window(endpoint, mas):
    endpoint.handle(status(400, "maximum context length is 512 tokens, your messages resulted in 600 tokens"))
    ended = await mas(*COT)
    clean(ended, ExitCode.FAILED)
    assert "context_overflow" in ended.err
    assert "(prompt 600, window 512 tokens)" in ended.err


async def test_a_question_of_a_megabyte_goes_out_whole(endpoint, mas, tmp_path):
    question = "word " * 200_000 + "What is 6 times 7?"
    (tmp_path / "question.txt").write_text(question)
    endpoint.handle(text(ANSWER))
    ended = await mas("--file", "question.txt", "--agent", "cot", request_timeout_s=30)
    assert (ended.code, ended.out) == (ExitCode.DONE, "42\n"), ended.err
    assert question in endpoint.calls[0].prompt
    assert len(ended.err) < 2_000


async def test_a_question_longer_than_the_window_is_refused_unsent(endpoint, mas, tmp_path):
    (tmp_path / "question.txt").write_text("word " * 200_000)
    ended = await mas("--file", "question.txt", "--agent", "cot", context_tokens=8_192)
    clean(ended, ExitCode.FAILED)
    assert "context_overflow" in ended.err
    assert "0 calls" in ended.err
    assert endpoint.count == 0


async def test_a_question_that_is_not_utf_8(endpoint, mas):
    ended = await mas("-", "--agent", "cot", stdin=b"na\xefve")
    clean(ended, ExitCode.USAGE)
    assert "byte 0xef at offset 2" in ended.err
    assert endpoint.count == 0


async def test_a_reply_that_is_not_utf_8_is_read_for_what_it_is(endpoint, mas):
    body = js.dumps(completion(message(says("caf#")))).encode().replace(b"#", b"\xe9")
    endpoint.handle(raw(body))
    ended = await mas(*COT)
    assert (ended.code, ended.out) == (ExitCode.DONE, "caf\N{REPLACEMENT CHARACTER}\n")


async def test_an_orchestrator_that_never_writes_what_is_asked_for(endpoint, mas):
    """It is asked once more with the faults, and not again once it repeats itself."""
    endpoint.handle(text('<DSML tool_name="CoTAgent">solve it</DSML>'))
    ended = await mas("Q?", "--repair-turns", "9", "--json")

    assert ended.code == ExitCode.FAILED
    value = js.loads(ended.out)
    assert (value["status"], [fault["code"] for fault in value["faults"]]) == ("invalid_plan", ["no_plan"])
    assert endpoint.count == value["usage"]["calls"] == 2
    assert (value["usage"]["input_tokens"], value["usage"]["output_tokens"]) == (60, 8)


async def test_a_plan_that_was_cut_off_is_neither_run_nor_asked_for_again(endpoint, mas):
    endpoint.handle(text("<agent><agent_id>a</agent_id></agent><edge><from>a</from><to>", finish="length"))
    ended = await mas("Q?")
    clean(ended, ExitCode.FAILED)
    assert "truncated_plan" in ended.err
    assert endpoint.count == 1


async def test_a_cost_limit_without_a_price(endpoint, mas):
    ended = await mas(*COT, "--max-cost", "1")
    clean(ended, ExitCode.USAGE)
    assert "no price is known" in ended.err
    assert endpoint.count == 0
