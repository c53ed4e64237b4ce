"""The process that compares mathematics: ``python -P math_worker.py MEMORY_BYTES``, started by `math_workers`.

One JSON line a comparison on stdin, ``[left, right, both_ways]``; one on stdout, ``{"same": …}`` or ``{"error": …}``.
It has no time limit of its own: its parent kills it. It ends when its stdin ends, which happens also when its parent
dies. Run as a file, so that nothing of this package is imported.

Texts are read as LaTeX only. Math-Verify's other reader hands plain expressions to SymPy's ``parse_expr``, which
evaluates Python; text of a model never reaches it.
"""

import json
import logging
import os
import signal
import sys
from functools import lru_cache
from typing import Any

_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def main() -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C reaches every process of the terminal; the parent ends us
    reply = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no reply
    logging.disable(logging.CRITICAL)
    _limit_memory(int(sys.argv[1]))
    try:
        _same("x+1", "1+x", both_ways=True)  # imports and first use are slow: before a comparison's time runs
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=reply, flush=True)
        return
    print(json.dumps({"ready": True}), file=reply, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(*json.loads(line))), file=reply, flush=True)


def _answer(left: str, right: str, both_ways: bool) -> dict[str, object]:  # noqa: FBT001  (a line's third item)
    try:
        return {"same": _same(left, right, both_ways=both_ways)}
    except _ERRORS as error:
        return {"error": type(error).__name__}


def _same(left: str, right: str, *, both_ways: bool) -> bool:
    """Whether `right` is `left`; with `both_ways` in either direction, so that the order does not matter."""
    from math_verify import verify

    first, second = list(_read(left)), list(_read(right))
    if not first or not second:
        return False
    options: dict[str, Any] = {"timeout_seconds": None, "allow_set_relation_comp": both_ways}
    return bool(verify(first, second, **options) or (both_ways and verify(second, first, **options)))


@lru_cache(maxsize=1024)
def _read(text: str) -> tuple[Any, ...]:
    from math_verify import LatexExtractionConfig, parse

    return tuple(parse(f"${text}$", extraction_config=(LatexExtractionConfig(),), parsing_timeout=None))


def _limit_memory(most_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(
        resource.RLIMIT_AS, (most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard), hard)
    )


if __name__ == "__main__":
    main()
