"""Hard caps of a whole run, checked before every call like the limits of one attempt."""

import asyncio

from mas_orchestra.errors import BudgetError, CallError
from mas_orchestra.evaluate.attempt import Spent
from mas_orchestra.models.base import Abilities, ChatModel, Completion, Namespaced, Params, QueueWatch
from mas_orchestra.models.tokens import estimate_prompt_tokens
from mas_orchestra.run.budget import Budget
from mas_orchestra.run.ledger import Ledger
from mas_orchestra.run.runtime import Limits
from mas_orchestra.types import Message, Usage

__all__ = ["CAP_REACHED", "CappedModel", "RunBudget", "RunCapError"]

CAP_REACHED = "run_cap_reached"


class RunCapError(BudgetError):
    """The next call would pass a cap of the whole run: says nothing about the system, so the attempt is unscored."""

    code = CAP_REACHED


class _Totals(Ledger):
    """A ledger that keeps sums only: a run has millions of calls."""

    def __init__(self, spent: Spent) -> None:
        super().__init__()
        self.calls = spent.calls
        self.usage = Usage(input_tokens=spent.tokens)
        self.cost_usd = spent.cost_usd
        self.known_cost_usd = spent.cost_usd or 0.0

    def add(self, calls: int, usage: Usage, cost_usd: float | None) -> None:
        """Book a call that was paid for."""
        self.calls += calls
        self.usage += usage
        self.known_cost_usd += cost_usd or 0.0


class RunBudget:
    """What all attempts of a run may still use together.

    Attributes:
        reached: The first cap that stopped a call, in words; ``None`` while there is room.
    """

    def __init__(self, limits: Limits, spent: Spent) -> None:
        self.reached: str | None = None
        self._totals = _Totals(spent)
        self._budget = Budget(limits, self._totals)

    async def complete(
        self, model: ChatModel, messages: tuple[Message, ...], params: Params, queue: QueueWatch | None
    ) -> Completion:
        """One call that keeps the caps.

        Raises:
            RunCapError: It does not fit any more; nothing was sent.
        """
        try:
            reservation = await self._budget.reserve(model, messages, params)
        except BudgetError as error:
            self.reached = self.reached or str(error)
            raise RunCapError(error.limit, f"the whole run's cap is reached: {error}") from None
        try:
            completion = await model.complete(messages, reservation.params, queue=queue)
        except CallError as error:
            self._totals.add(params.n, error.usage, model.cost_usd(error.usage))
            raise
        except asyncio.CancelledError:
            # The endpoint may bill a prompt whose reply nobody waits for any more.
            paid = Usage(input_tokens=estimate_prompt_tokens(messages), estimated=True)
            self._totals.add(params.n, paid, model.cost_usd(paid))
            raise
        else:
            if not completion.cached:
                self._totals.add(params.n, completion.usage, model.cost_usd(completion.usage))
            return completion
        finally:
            self._budget.settle(reservation)


class CappedModel:
    """A model whose calls keep the caps of the run."""

    def __init__(self, model: ChatModel, budget: RunBudget) -> None:
        self._model = model
        self._budget = budget

    @property
    def uri(self) -> str:
        """That of the model itself."""
        return self._model.uri

    @property
    def abilities(self) -> Abilities:
        """Those of the model itself."""
        return self._model.abilities

    def cost_usd(self, usage: Usage) -> float | None:
        """Price at the model itself."""
        return self._model.cost_usd(usage)

    def within(self, namespace: str) -> "CappedModel":
        """The same, with what the model remembers kept apart."""
        model = self._model
        return CappedModel(model.within(namespace) if isinstance(model, Namespaced) else model, self._budget)

    async def complete(
        self, messages: tuple[Message, ...], params: Params, *, queue: QueueWatch | None = None
    ) -> Completion:
        """One call within the caps.

        Raises:
            RunCapError: It does not fit any more.
            CallError: From the model itself.
        """
        return await self._budget.complete(self._model, messages, params, queue)

    async def close(self) -> None:
        """Close the model itself."""
        await self._model.close()
