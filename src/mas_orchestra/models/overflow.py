"""Recognises "the prompt is too long" in the words of many providers, and reads the sizes out of it."""

import re
from dataclasses import dataclass

__all__ = ["Overflow", "read_overflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """What the endpoint said about sizes, in tokens; ``None`` where it said nothing."""

    window: int | None = None
    prompt: int | None = None


CODES = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "context_window_exceeded"}
SIGNS = re.compile(
    r"maximum context length|context length is only|model's context length|context window|available context size"
    r"|exceed context limit|prompt is too long|input is too long|too many tokens|input token count"
    r"|input tokens exceed|max_new_tokens.{0,20}must be|reduce the length of the messages|maximum number of tokens"
    r"|context the overflows|larger than the context|context size has been exceeded",
    re.IGNORECASE,
)
NUMBER = r"(\d{1,12})"
# OpenAI · vLLM · SGLang · llama.cpp · Anthropic · Gemini · Together and TGI · Mistral · LM Studio
WINDOWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"maximum context length (?:is|of) {NUMBER}",
        rf"context length is only {NUMBER}",
        rf"context length of only {NUMBER}",
        rf"model's context length \({NUMBER}",
        rf"available context size \({NUMBER}",
        rf'"n_ctx": ?{NUMBER}',
        rf"> {NUMBER} maximum",
        rf"exceed context limit: \d{{1,12}} \+ \d{{1,12}} > {NUMBER}",
        rf"maximum number of tokens allowed \({NUMBER}",
        rf"configured limit of {NUMBER}",
        rf"must be <= {NUMBER}",
        rf"with {NUMBER} maximum context length",
    )
)
PROMPTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{NUMBER} in the messages",
        rf"{NUMBER} (?:tokens )?from the input",
        rf"passed {NUMBER} input tokens",
        rf"request has {NUMBER} input tokens",
        rf"contains (?:at least )?{NUMBER} (?:input )?tokens",
        rf"input \({NUMBER} tokens\)",
        rf"request \({NUMBER} tokens\)",
        rf'"n_prompt_tokens": ?{NUMBER}',
        rf"too long: {NUMBER} tokens",
        rf"exceed context limit: {NUMBER} \+",
        rf"token count \({NUMBER}\)",
        rf"resulted in {NUMBER} tokens",
        rf"given: {NUMBER} `inputs`",
    )
)


def read_overflow(text: str, code: str = "") -> Overflow | None:
    """Sizes from the body of an error reply, or ``None`` when it is about something else.

    Args:
        text: The body as it came; only its beginning is read.
        code: The error's own code or type, where it has one.

    >>> read_overflow("This model's maximum context length is 512 tokens. However, you requested 700 tokens "
    ...               "(300 in the messages, 400 in the completion).")
    Overflow(window=512, prompt=300)
    """
    text = text[:4_000]
    if code not in CODES and SIGNS.search(text) is None:
        return None
    return Overflow(window=_first(WINDOWS, text), prompt=_first(PROMPTS, text))


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    found = (pattern.search(text) for pattern in patterns)
    return next((int(match[1]) for match in found if match), None)
