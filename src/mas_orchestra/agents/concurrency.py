"""Doing independent things at the same time without leaking any."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

__all__ = ["all_of"]

T = TypeVar("T")


async def all_of(coroutines: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Results in the order given, whatever order they came in.

    The first failure cancels the others, waits for them to end, and is raised itself rather than inside a group, so
    that a caller catches the type it knows.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as failures:
        raise _first(failures) from (failures if len(failures.exceptions) > 1 else None)
    return tuple(task.result() for task in tasks)


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first
