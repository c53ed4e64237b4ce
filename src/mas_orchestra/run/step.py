"""One step: its sub-agent's answer, within the step's own time and behind one boundary."""

import traceback

from mas_orchestra.agents.base import StepCall, StepOutcome, SubAgent
from mas_orchestra.errors import BudgetError, CallError, EndpointError, StepError
from mas_orchestra.run.context import StepContext

__all__ = ["answer_step"]


async def answer_step(agent: SubAgent, call: StepCall, context: StepContext) -> StepOutcome:
    """The sub-agent's answer; `context` is closed afterwards, whatever happened.

    Raises:
        StepError: `step_timeout`, `empty_reply`, `agent_crashed`, or from the sub-agent.
        CallError, BudgetError: From the sub-agent's calls.
    """
    clock = context.clock
    try:
        async with clock.limit():
            outcome = await agent.run(call, context)
    except (StepError, CallError, BudgetError):
        raise
    except TimeoutError as error:
        if not clock.is_expired:
            raise _crash(agent, error) from error
        raise StepError("step_timeout", f"no answer within the {clock.timeout_s} s of a step") from None
    except ExceptionGroup as group:
        raise (_known_error(group) or _crash(agent, group)) from group
    except Exception as error:  # boundary: a sub-agent may be anybody's code
        if context.listener_error is not None:
            raise context.listener_error from None
        raise _crash(agent, error) from error
    finally:
        await context.close()
    if context.listener_error is not None:
        raise context.listener_error
    if not outcome.answer.strip():
        raise StepError("empty_reply", f"{agent.card.name} returned an empty answer")
    return outcome


def _crash(agent: SubAgent, error: Exception) -> StepError:
    """A sub-agent's own bug, with the place where it happened."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.name}, line {place.lineno}"
    return StepError("agent_crashed", f"{agent.card.name} raised {type(error).__name__}: {error} ({where})")


def _known_error(group: ExceptionGroup[Exception]) -> Exception | None:
    """What ended the calls of a sub-agent that made them in a task group of its own; ``None`` with a bug among them.

    A limit of the run counts before a broken service, and that before a reply or an answer that is of no use.
    """
    known, others = group.split((BudgetError, CallError, StepError))
    if known is None or others is not None:
        return None
    leaves = _leaves(known)
    kinds = (BudgetError, EndpointError, CallError, StepError)
    return next(leaf for kind in kinds for leaf in leaves if isinstance(leaf, kind))


def _leaves(group: BaseExceptionGroup[Exception]) -> list[Exception]:
    return [
        leaf
        for error in group.exceptions
        for leaf in (_leaves(error) if isinstance(error, BaseExceptionGroup) else [error])
    ]
