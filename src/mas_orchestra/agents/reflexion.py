"""Solve, be criticised, solve again."""

from dataclasses import dataclass, replace
from typing import TypeVar

from pydantic import Field

from mas_orchestra.agents.ask import ANSWER_FIELDS, Asked, ask
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.options import ConfiguredAgent
from mas_orchestra.agents.prompting import FieldsAsked, prompt, shortened
from mas_orchestra.agents.reply import read_fields, without_reasoning
from mas_orchestra.errors import StepError
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.types import Message

__all__ = ["ReflexionAgent", "Verdict", "read_verdict"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the critic says of an attempt."""

    correct: bool
    feedback: str


def read_verdict(text: str, *, cut_off: bool = False) -> Verdict | None:
    """The critic's verdict: correct only when the field says true and nothing else; ``None`` without the field.

    >>> read_verdict('{"feedback": "fine", "correct": "True"}')
    Verdict(correct=True, feedback='fine')
    >>> read_verdict("<feedback>unsure</feedback><correct>true, probably</correct>")
    Verdict(correct=False, feedback='unsure')
    """
    fields = read_fields(without_reasoning(text), "correct", others=("feedback",), cut_off=cut_off)
    if fields is None:
        return None
    correct = fields["correct"].strip(" \n.*`'\"").lower() == "true"
    return Verdict(correct=correct, feedback=fields.get("feedback") or "(the critic gave no reasons)")


VERDICT_FIELDS: Asked[Verdict] = Asked(
    fields=FieldsAsked(name="verdict", properties={"feedback": "string", "correct": "boolean"}, wanted="correct"),
    read=lambda text, cut_off: read_verdict(text, cut_off=cut_off),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """One try, with what the critic said of it."""

    answer: str
    thinking: str
    feedback: str = ""


class ReflexionAgent(ConfiguredAgent):
    """Reflexion: an attempt, a critic, a new attempt that sees all earlier ones with their criticism (appendix G.3).

    Ends when the critic is sure that the attempt is correct, or after `rounds` new attempts; the last attempt is the
    answer. When critic or new attempt give no usable reply, the attempt at hand is the answer, with a warning: work
    that was done is not thrown away, and the details say ``"stopped": "failed"``.

    Attributes:
        rounds: Most rounds of criticism and new attempt after the first attempt.
        quoted_chars: Longest reasoning of an attempt that later prompts show, the middle left out; ``None``: no limit.
    """

    rounds: int = Field(default=5, ge=1, le=20)
    quoted_chars: int | None = Field(default=None, ge=100)

    @property
    def card(self) -> AgentCard:
        """One call, and two a round."""
        return AgentCard(
            name="ReflexionAgent",
            summary=f"Solves, has a critic look for mistakes, and tries again, up to {self.rounds} times.",
            good_at="Sub-tasks of many steps where a slip is likely and can be found by checking.",
            cost=f"2 to {self._most_calls} calls, one after the other",
            aliases=("reflexion", "reflection", "self-refine"),
            max_calls=lambda _: self._most_calls,
        )

    @property
    def _most_calls(self) -> int:
        return 1 + 2 * self.rounds

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The attempt that the critic accepted, or the last one.

        Raises:
            StepError: The first attempt gave no usable reply.
        """
        attempts = [await self._attempt(call, context, [])]
        stopped = "rounds"
        try:
            for number in range(1, self.rounds + 1):
                verdict = await self._criticise(call, context, attempts[-1], number)
                if verdict.correct:
                    stopped = "correct"
                    break
                attempts[-1] = replace(attempts[-1], feedback=verdict.feedback)
                attempts.append(await self._attempt(call, context, attempts))
        except StepError as error:
            stopped = "failed"
            context.warn("reflexion_stopped", f"attempt {len(attempts)} is the answer: {error}")
        last = attempts[-1]
        return StepOutcome(
            answer=last.answer, thinking=last.thinking, details={"attempts": len(attempts), "stopped": stopped}
        )

    async def _attempt(self, call: StepCall, context: AgentContext, earlier: list[_Attempt]) -> _Attempt:
        shown = [self._shown(attempt) for attempt in earlier]
        messages = prompt("reflexion", call, attempts=shown) if earlier else prompt("cot", call)
        reply = await self._ask(context, messages, ANSWER_FIELDS, f"attempt {len(earlier) + 1}")
        return _Attempt(answer=reply.answer, thinking=reply.thinking)

    async def _criticise(self, call: StepCall, context: AgentContext, attempt: _Attempt, number: int) -> Verdict:
        shown = self._shown(attempt)
        messages = prompt("critic", call, thinking=shown.thinking, answer=shown.answer)
        return await self._ask(context, messages, VERDICT_FIELDS, f"critic {number}")

    async def _ask(self, context: AgentContext, messages: tuple[Message, ...], asked: Asked[T], purpose: str) -> T:
        return await ask(
            context, messages, self.params(), asked=asked, purpose=purpose, format_retries=self.format_retries
        )

    def _shown(self, attempt: _Attempt) -> _Attempt:
        return replace(attempt, thinking=shortened(attempt.thinking, self.quoted_chars))
