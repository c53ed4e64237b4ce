"""Hard limits of a run, checked before every call.

A call reserves its worst case before it is sent and gives back what it did not use, so that calls in flight together
cannot pass a limit together. A call that would fit once others have settled waits for them; one that could never fit
raises `BudgetError` and is not sent. Prompt tokens are estimated before the call and booked as reported after it, so a
token or cost limit is exact up to that estimate.
"""

import asyncio
import dataclasses
from dataclasses import dataclass

from mas_orchestra.errors import BudgetError
from mas_orchestra.models.base import ChatModel, Params
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.run.ledger import Ledger
from mas_orchestra.run.runtime import Limits
from mas_orchestra.types import Message, Usage

__all__ = ["MIN_REPLY_TOKENS", "REPLY_RESERVE_TOKENS", "Budget", "Reservation"]

REPLY_RESERVE_TOKENS = 4096
"""Under a token or cost limit, the `max_tokens` of a call that names none."""

MIN_REPLY_TOKENS = 64
"""A reply with less room than this is not worth its prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """What a call may use at most; `params` is what to send."""

    params: Params
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Budget:
    """The limits of one run against what its ledger has booked and what calls in flight have reserved."""

    def __init__(self, limits: Limits, ledger: Ledger) -> None:
        self._limits = limits
        self._ledger = ledger
        self._held = Reservation(params=Params())
        self._settled = asyncio.Event()
        self._is_unlimited = limits.max_calls is limits.max_tokens is limits.max_cost_usd is None

    @property
    def calls_left(self) -> int | None:
        """LLM calls that may still be sent; ``None`` without a limit."""
        if self._limits.max_calls is None:
            return None
        return max(0, self._limits.max_calls - self._ledger.calls - self._held.calls)

    async def reserve(self, model: ChatModel, messages: tuple[Message, ...], params: Params) -> Reservation:
        """Room for one call, waiting for calls in flight where only they stand in its way.

        Raises:
            BudgetError: The call cannot fit, whatever the calls in flight give back.
        """
        if self._is_unlimited:
            return Reservation(params=params)
        prompt_tokens = estimate_prompt_tokens(messages)
        while True:
            try:
                wanted = self._fit(model, prompt_tokens, params)
            except BudgetError:
                if not self._held.calls:
                    raise
                self._settled.clear()
                await self._settled.wait()
            else:
                self._hold(wanted, sign=1)
                return wanted

    def settle(self, reservation: Reservation) -> None:
        """Give a reservation back; the call's record is in the ledger by now."""
        self._hold(reservation, sign=-1)
        if not self._held.calls:
            self._held = Reservation(params=Params())  # sums of prices round; what is left of them is nobody's
        self._settled.set()

    def _fit(self, model: ChatModel, prompt_tokens: int, params: Params) -> Reservation:
        left = self.calls_left
        if left is not None and params.n > left:
            raise BudgetError("calls", f"{params.n} more LLM calls would pass the limit of {self._limits.max_calls}")
        params = self._with_reply_limit(prompt_tokens, params)
        worst = Usage(input_tokens=prompt_tokens, output_tokens=params.n * (params.max_tokens or 0))
        cost_usd = model.cost_usd(worst) or 0.0
        self._check_cost(cost_usd)
        return Reservation(params=params, calls=params.n, tokens=worst.total_tokens, cost_usd=cost_usd)

    def _with_reply_limit(self, prompt_tokens: int, params: Params) -> Params:
        """`params` whose replies fit; a call that names its `max_tokens` gets them or nothing."""
        limit = self._limits.max_tokens
        if limit is None and self._limits.max_cost_usd is None:
            return params
        asked = params.max_tokens or REPLY_RESERVE_TOKENS
        if limit is not None:
            room = (limit - self._ledger.usage.total_tokens - self._held.tokens - prompt_tokens) // params.n
            if room < (params.max_tokens or MIN_REPLY_TOKENS):
                raise BudgetError(
                    "tokens",
                    f"a prompt of about {prompt_tokens} tokens and {params.n} replies would pass the limit of {limit} "
                    f"tokens, of which {self._ledger.usage.total_tokens} are spent",
                )
            asked = min(asked, room)
        return dataclasses.replace(params, max_tokens=asked)

    def _check_cost(self, cost_usd: float) -> None:
        limit = self._limits.max_cost_usd
        spent = self._ledger.known_cost_usd
        if limit is not None and spent + self._held.cost_usd + cost_usd > limit:
            raise BudgetError(
                "cost_usd",
                f"a call of up to ${cost_usd:.6f} would pass the limit of ${limit:.6f}, of which ${spent:.6f} is spent",
            )

    def _hold(self, change: Reservation, *, sign: int) -> None:
        self._held = Reservation(
            params=self._held.params,
            calls=self._held.calls + sign * change.calls,
            tokens=self._held.tokens + sign * change.tokens,
            cost_usd=self._held.cost_usd + sign * change.cost_usd,
        )
