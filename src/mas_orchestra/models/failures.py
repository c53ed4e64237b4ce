"""What an HTTP reply that is no completion means: which error, whether to try again, what to tell people."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import orjson

from mas_orchestra.errors import (
    AuthenticationError,
    BrokenReplyError,
    CallError,
    ContextOverflowError,
    ModelNotFoundError,
    RateLimitError,
    RequestRejectedError,
    ServerError,
)
from mas_orchestra.models.limits import Verdict
from mas_orchestra.models.overflow import Overflow, read_overflow
from mas_orchestra.models.reply import is_object
from mas_orchestra.types import JsonValue, Usage

__all__ = ["Failure", "read_failure", "read_retry_after", "scrub"]

QUOTED_CHARACTERS = 300
KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|gsk|xai)[-_]|AIza)[\w*.-]{4,200}")
SPENT = "insufficient_quota"
"""Code of a 429 that no waiting helps: the account has no money left."""
MAY_OVERFLOW = {400, 413, 422, 500}
OVERLOADED = {429, 503, 529}
PASSING = {408, 409, 425, 500, 502, 504, 520, 521, 522, 523, 524} | OVERLOADED
OPTIONAL_FIELDS = (
    "stream_options",
    "response_format",
    "max_tokens",
    "temperature",
    "top_p",
    "seed",
    "stop",
    "n",
)
SCHEMA = re.compile(
    r"response[ _]format|json[ _]?schema|structured[ _]outputs?|guided[ _]?(?:json|decoding)|grammar|failed_generation",
    re.IGNORECASE,
)
"""Words of a refusal that is about structured output: our schema, a keyword in it, or what the model made of it."""
ONE_SCHEMA = re.compile(
    r"(?:invalid|unrecognized|unsupported) (?:json )?schema|grammar|keyword|failed_generation", re.IGNORECASE
)
"""Of these, words that blame one schema rather than all."""
UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecognized|unknown|not permitted|not allowed|extra (?:fields|inputs)|unexpected"
    r"|must be 1|only one",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One reply that is no completion.

    Attributes:
        kind: The error that it becomes if nothing helps.
        explanation: What happened and what to do, key and all secrets taken out.
        is_passing: Whether the same request may succeed later.
        verdict: What it says about the endpoint's load.
        refused_field: An optional part of the request that the endpoint does not take.
        overflow: Sizes, when the prompt was too long.
        usage: What the attempt cost, or may have cost, all the same.
    """

    kind: type[CallError]
    explanation: str
    status: int | None = None
    is_passing: bool = False
    verdict: Verdict = Verdict.OTHER
    retry_after_s: float | None = None
    refused_field: str | None = None
    overflow: Overflow | None = None
    usage: Usage = Usage()


def read_failure(
    status: int, body: bytes, *, retry_after: str | None, secrets: Iterable[str], key_source: str
) -> Failure:
    """What a reply with an HTTP error `status` means.

    Args:
        status: Of HTTP, or what the endpoint wrote into a body that came with 200.
        body: As it came.
        retry_after: The header.
        secrets: Texts that must not be quoted.
        key_source: Which environment variable holds the key, in words.
    """
    text = body[:8_000].decode("utf-8", "replace")
    note, code, parameter = _error_fields(body, text)
    said = _quote(note, secrets)
    overflow = read_overflow(text, code) if status in MAY_OVERFLOW else None
    if overflow is not None:
        explanation = f"the prompt is too long: {said}"
        return Failure(kind=ContextOverflowError, explanation=explanation, status=status, overflow=overflow)
    kind, happened = _meaning(status, code, key_source)
    is_passing = status in PASSING and code != SPENT
    return Failure(
        kind=kind,
        explanation=f"{happened}: {said}",
        status=status,
        is_passing=is_passing,
        verdict=Verdict.REFUSED if is_passing and status in OVERLOADED else Verdict.OTHER,
        retry_after_s=read_retry_after(retry_after) if is_passing else None,
        refused_field=_refused_field(note, parameter, code) if kind is RequestRejectedError else None,
    )


def _meaning(status: int, code: str, key_source: str) -> tuple[type[CallError], str]:
    """The error and its first words."""
    if 300 <= status < 400:
        advice = "set the base URL to where it leads; a redirect is not followed with a key"
        return BrokenReplyError, f"redirects ({status}); {advice}"
    if status == 429:
        spent = "the account's quota is used up (429), waiting does not help"
        return RateLimitError, spent if code == SPENT else "too many requests (429)"
    if status in {401, 403}:
        return AuthenticationError, f"refused with {status} ({key_source})"
    if status == 404:
        return ModelNotFoundError, "not found (404)"
    if status >= 500 or status in PASSING:
        return ServerError, f"the endpoint failed ({status})"
    return RequestRejectedError, f"refuses the request ({status})"


def _error_fields(body: bytes, text: str) -> tuple[str, str, str]:
    """Message, code and parameter of an error body, in the forms that endpoints use."""
    try:
        tree: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError:
        return text, "", ""
    tree = tree[0] if isinstance(tree, list) and tree else tree
    if not is_object(tree):
        return text, "", ""
    error = tree.get("error")
    table = error if is_object(error) else tree
    detail = table.get("detail")
    if isinstance(detail, list) and detail and is_object(detail[0]):
        # How pydantic lists what is wrong with a body.
        where = detail[0].get("loc")
        return str(detail[0].get("msg")), "", str(where[-1]) if isinstance(where, list) and where else ""
    note = table.get("message") or detail or error
    code, kind, parameter = table.get("code"), table.get("type"), table.get("param")
    word = code if isinstance(code, str) else kind
    return (
        note if isinstance(note, str) else text,
        word if isinstance(word, str) else "",
        parameter if isinstance(parameter, str) else "",
    )


def _refused_field(note: str, parameter: str, code: str) -> str | None:
    """The optional field that a refusal is about, when it says that the field (not its value) is the trouble.

    A schema is always a field and never a value: whatever is wrong with ours, the reply can be read without it. It is
    ``response_format`` where the endpoint takes none, and ``schema`` where it does not take this one.
    """
    note = note[:2_000]
    if parameter.startswith("response_format") or code == "json_validate_failed" or SCHEMA.search(note):
        is_one = code == "json_validate_failed" or ONE_SCHEMA.search(note) is not None
        return "schema" if is_one else "response_format"
    if UNSUPPORTED.search(note) is None:
        return None
    if parameter in OPTIONAL_FIELDS:
        return parameter
    words = set(re.findall(r"[a-z_]{1,40}", note.lower()))
    # A single letter is a field only where it is marked as one: "'n'", "`n`", "n > 1", "n must be 1".
    marked = re.search(r"['\"`]n['\"`]|\bn ?(?:>|=|must|is)", note) is not None
    return next((field for field in OPTIONAL_FIELDS if (marked if field == "n" else field in words)), None)


def _quote(text: str, secrets: Iterable[str]) -> str:
    """A short, one-line quotation without secrets."""
    clean = " ".join(scrub(text[:4_000], secrets).split())
    return clean if len(clean) <= QUOTED_CHARACTERS else f"{clean[:QUOTED_CHARACTERS]} …"


def scrub(text: str, secrets: Iterable[str]) -> str:
    """`text` without the given secrets and without whatever looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return KEY_LIKE.sub("***", text)


def read_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds to wait, from a number of seconds or an HTTP date; ``None`` when there is none that can be read.

    >>> read_retry_after("3")
    3.0
    """
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            return None
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seconds = (at - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
