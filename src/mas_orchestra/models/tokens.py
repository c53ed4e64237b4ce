"""Token counts without a tokenizer: for limits, for fitting a window, for endpoints that report no usage."""

from mas_orchestra.types import Message

__all__ = ["estimate_prompt_tokens", "estimate_tokens"]

BYTES_PER_TOKEN = 4
"""Of UTF-8. English prose has 4 to 5, code and mathematics 2.5 to 4, Chinese about 3 (one character)."""
TOKENS_PER_MESSAGE = 4
"""What a chat template adds around one message."""


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` has; 0 only for an empty one.

    >>> estimate_tokens("What is 6 times 7?")
    5
    """
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


def estimate_prompt_tokens(messages: tuple[Message, ...]) -> int:
    """About how many tokens a conversation has, its template included."""
    return sum(
        TOKENS_PER_MESSAGE
        + estimate_tokens(message.content)
        + sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in message.tool_calls)
        for message in messages
    )
