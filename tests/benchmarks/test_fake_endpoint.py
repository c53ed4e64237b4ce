"""The endpoint of the benchmarks answers as an OpenAI-compatible one, keeps connections, and counts what it sees."""

import json
import urllib.request

import aiohttp
import pytest

from fake_endpoint import RunningEndpoint, completion, running_endpoint


@pytest.fixture(scope="module")
def endpoint():
    with running_endpoint() as running:
        yield running


def ask(endpoint: RunningEndpoint, **fields: object) -> dict[str, object]:
    body = json.dumps({"model": "fake", "messages": [{"role": "user", "content": "?"}], **fields}).encode()
    request = urllib.request.Request(f"{endpoint.base_url}/chat/completions", body)
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def test_a_completion_has_the_usual_fields(endpoint) -> None:
    reply = ask(endpoint)

    assert reply["choices"][0]["finish_reason"] == "stop"
    assert json.loads(reply["choices"][0]["message"]["content"])["answer"] == "42"
    assert reply["usage"]["total_tokens"] == reply["usage"]["prompt_tokens"] + reply["usage"]["completion_tokens"]


def test_it_gives_as_many_choices_as_asked_for(endpoint) -> None:
    assert [choice["index"] for choice in ask(endpoint, n=5)["choices"]] == [0, 1, 2, 3, 4]


def test_it_counts_from_the_last_reset(endpoint) -> None:
    endpoint.reset()
    ask(endpoint)
    ask(endpoint, n=3)

    counters = endpoint.counters()
    assert (counters.requests, counters.in_flight, counters.peak_in_flight) == (2, 0, 1)


async def test_a_connection_serves_many_requests_in_pieces(endpoint) -> None:
    endpoint.reset()
    async with aiohttp.ClientSession() as session:
        for size in (10, 200_000):
            async with session.post(f"{endpoint.base_url}/chat/completions", data=b"x" * size) as reply:
                assert reply.status == 200
                assert await reply.json()

    counters = endpoint.counters()
    assert counters.requests == 2
    assert counters.connections == 2  # the session's one, and that of asking for the counters


def test_the_reply_says_its_true_length() -> None:
    head, _, body = completion(2).partition(b"\r\n\r\n")

    assert f"content-length: {len(body)}".encode() in head
