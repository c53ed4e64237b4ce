"""Every error that this package raises on purpose, in one tree.

::

    MasError
    ├── UsageError                 what the caller gave is wrong (exit code 2)
    │   ├── ConfigError            a configuration file, option or environment variable
    │   ├── UnknownNameError       a name that no registry holds; lists the known ones and the nearest
    │   ├── InvalidPlanError       a plan that cannot run was handed to something that needs a valid one
    │   ├── MissingExtraError      an optional dependency is not installed; says the exact install command
    │   └── PriceUnknownError      a money cap on a model that has no known price
    ├── FileFormatError            a file cannot be read or written as what it should be (trace, script, cache, rows)
    ├── CallError                  one call of a model gave no usable reply; carries what was paid for all the same
    │   ├── EndpointError          the service broke: whatever depends on it stays unscored, never "wrong"
    │   │   ├── UnreachableError       no connection (DNS, refused, reset before a reply)
    │   │   ├── CallTimeoutError       no reply, or no further piece of a stream, within the time-out
    │   │   ├── AuthenticationError    401 or 403
    │   │   ├── ModelNotFoundError     404
    │   │   ├── RateLimitError         429 beyond the retries
    │   │   ├── ServerError            5xx beyond the retries
    │   │   ├── RequestRejectedError   400 or 422: the endpoint refuses what we ask for
    │   │   ├── ModelLoadError         the embedded model cannot be loaded, or its process ended
    │   │   └── BrokenReplyError       not JSON, not a completion, a stream cut off
    │   └── ContextOverflowError   the prompt does not fit the model's window; its message says the sizes
    ├── FetchError                 the weights of an embedded model could not be fetched (`code` says why)
    ├── StepError                  a sub-agent could not give an answer (`code` says why); data, not a broken service
    └── BudgetError                the next call would pass a limit of the run; nothing is sent

A model's mistake is data and a broken service is an error: bad plans, refusals and budget stops end as an ``Outcome``;
an ``EndpointError`` leaves the attempt unscored.
"""

import difflib
from collections.abc import Iterable

from mas_orchestra.types import Usage

__all__ = [
    "AuthenticationError",
    "BrokenReplyError",
    "BudgetError",
    "CallError",
    "CallTimeoutError",
    "ConfigError",
    "ContextOverflowError",
    "EndpointError",
    "FetchError",
    "FileFormatError",
    "InvalidPlanError",
    "MasError",
    "MissingExtraError",
    "ModelLoadError",
    "ModelNotFoundError",
    "PriceUnknownError",
    "RateLimitError",
    "RequestRejectedError",
    "ServerError",
    "StepError",
    "UnknownNameError",
    "UnreachableError",
    "UsageError",
    "nearest",
]


class MasError(Exception):
    """Base of every error of this package; `code` is a stable snake_case word for programs.

    Errors cross processes (workers that score or evaluate): whatever a subclass's constructor takes, a pickled error
    comes back with the same message and attributes.
    """

    code: str = "error"

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), self.args, vars(self))


class UsageError(MasError):
    """The caller's input is wrong; the command line ends with exit code 2."""

    code = "usage"


class ConfigError(UsageError):
    """A configuration file, option or environment variable is wrong."""

    code = "bad_config"


class UnknownNameError(UsageError):
    """A name that is not registered."""

    code = "unknown_name"

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = sorted(known)
        hint = f" Did you mean {close!r}?" if (close := nearest(name, known)) else ""
        super().__init__(f"unknown {kind} {name!r}.{hint} Known: {', '.join(known) or 'none'}.")


class InvalidPlanError(UsageError):
    """A plan that cannot run was handed to something that needs a valid one."""

    code = "invalid_plan"


class MissingExtraError(UsageError):
    """An optional dependency is not installed."""

    code = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency. Install it with: pip install 'mas-orchestra[{extra}]'")


class PriceUnknownError(UsageError):
    """A money cap was asked for on a model without a known price."""

    code = "price_unknown"


class FileFormatError(MasError):
    """A file is not what it should be, or cannot be written; the message names file, place and remedy."""

    code = "bad_file"


class CallError(MasError):
    """One call of a model gave no usable reply.

    Attributes:
        endpoint: The model's URI, never a key.
        status: HTTP status, where there was one.
        requests: HTTP requests sent for this call, first one included.
        usage: What was (or may have been) billed although no reply came of it.
    """

    code = "call_failed"

    def __init__(
        self,
        message: str,
        *,
        endpoint: str = "",
        status: int | None = None,
        requests: int = 1,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.endpoint = endpoint
        self.status = status
        self.requests = requests
        self.usage = usage or Usage()


class EndpointError(CallError):
    """The service broke: what depends on the call stays unscored."""

    code = "endpoint_error"


class UnreachableError(EndpointError):
    """No connection to the endpoint."""

    code = "unreachable"


class CallTimeoutError(EndpointError):
    """No reply, or no further piece of a stream, in time."""

    code = "call_timeout"


class AuthenticationError(EndpointError):
    """The endpoint refuses the key (401, 403)."""

    code = "authentication"


class ModelNotFoundError(EndpointError):
    """The endpoint does not know the model or the path (404)."""

    code = "model_not_found"


class RateLimitError(EndpointError):
    """The endpoint still answers 429 after all retries."""

    code = "rate_limited"


class ServerError(EndpointError):
    """The endpoint still answers 5xx after all retries."""

    code = "server_error"


class RequestRejectedError(EndpointError):
    """The endpoint refuses the request itself (400, 422)."""

    code = "request_rejected"


class ModelLoadError(EndpointError):
    """The embedded model cannot be loaded, or the process that served it ended."""

    code = "model_not_loaded"


class BrokenReplyError(EndpointError):
    """The reply is not a completion: not JSON, a missing field, a stream that was cut off."""

    code = "broken_reply"


class ContextOverflowError(CallError):
    """The prompt is longer than the model's context window."""

    code = "context_overflow"


class FetchError(MasError):
    """The weights of an embedded model could not be fetched; `code` says why (`no_network`, `wrong_hash`, …)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class StepError(MasError):
    """A sub-agent could not give an answer; `code` says why (`empty_reply`, `unreadable_reply`, …)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BudgetError(MasError):
    """The next call would pass a limit of the run.

    Attributes:
        limit: Which limit: ``calls``, ``tokens``, ``cost_usd`` or ``seconds``.
    """

    code = "budget_exceeded"

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`, letter case aside, or ``None``."""
    by_lower = {other.lower(): other for other in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def _restored(kind: type[MasError], arguments: tuple[object, ...], attributes: dict[str, object]) -> MasError:
    """An error as it was pickled: constructors turn their arguments into a message, so they are not called again."""
    error = kind.__new__(kind, *arguments)
    vars(error).update(attributes)
    return error
