"""A `QueueWatch` that counts."""

import asyncio
from typing import Self


class Watch:
    """Who waits for the endpoint.

    Attributes:
        entered: How often somebody began to wait.
        now: How many wait now.
        waits: Set as soon as anybody has waited.
    """

    def __init__(self) -> None:
        self.entered = 0
        self.now = 0
        self.waits = asyncio.Event()

    def waiting(self) -> Self:
        return self

    def __enter__(self) -> None:
        self.entered += 1
        self.now += 1
        self.waits.set()

    def __exit__(self, *_: object) -> None:
        self.now -= 1
