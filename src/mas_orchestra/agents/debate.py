"""Experts of different kinds who read each other, and a judge."""

from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, StringConstraints

from mas_orchestra.agents.ask import ANSWER_FIELDS, ask
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.concurrency import all_of
from mas_orchestra.agents.equivalence import Grouping, group_by_key
from mas_orchestra.agents.options import ConfiguredAgent
from mas_orchestra.agents.prompting import prompt, shortened
from mas_orchestra.agents.reply import Reply
from mas_orchestra.errors import StepError
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.types import JsonValue, Message

__all__ = ["DebateAgent", "DebateArguments"]

RoleName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class DebateArguments(BaseModel):
    """What the orchestrator decides of a debate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: tuple[RoleName, ...] = Field(
        min_length=2,
        max_length=16,
        description='Two or more roles of different expertise, as ["Statistician", "Sceptical reviewer"].',
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    """What one debater said in one round; `reply` is ``None`` when there was nothing to use, and `failure` says why."""

    role: str
    reply: Reply | None
    failure: str = ""


class DebateAgent(ConfiguredAgent):
    """Debate: all roles speak at the same time, for some rounds, then a judge decides (MAS-Orchestra, appendix G.3).

    In every round but the first, a debater sees its own and the others' thoughts of the round before. One that gives
    no usable reply is shown as missing in the next round, and takes part again.

    Attributes:
        rounds: Rounds of debate before the judge.
        stop_at_consensus: End, without a judge, after a round in which all debaters gave the same answer.
        quoted_chars: Longest thought of a debater that others are shown, the middle left out; ``None`` is no limit.
        grouping: Which answers are the same, for consensus.
    """

    rounds: int = Field(default=5, ge=1, le=20)
    stop_at_consensus: bool = False
    quoted_chars: int | None = Field(default=None, ge=100)
    grouping: Annotated[Grouping, SkipValidation] = Field(default=group_by_key, repr=False)

    @property
    def card(self) -> AgentCard:
        """Rounds times roles, and the judge."""
        return AgentCard(
            name="DebateAgent",
            summary=f"Lets experts of your choice debate for {self.rounds} rounds; a judge then decides.",
            good_at="Hard questions where different expertise or a sceptic finds what one line of thought misses.",
            cost=f"{self.rounds} calls a role + 1, in {self.rounds + 1} sequential rounds",
            aliases=("debate", "llm-debate", "multi-agent debate"),
            arguments=DebateArguments,
            argument_tags={"debate_roles": "roles"},
            max_calls=lambda arguments: self.rounds * len(cast("DebateArguments", arguments).roles) + 1,
        )

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The judge's answer, or the consensus.

        Raises:
            StepError: `debate_failed` when no debater has a usable reply in a round; otherwise the judge's.
        """
        roles = distinct_roles(cast("DebateArguments", call.arguments).roles)
        details: dict[str, JsonValue] = {"roles": list(roles), "consensus": False}
        missing: list[JsonValue] = []
        turns: tuple[_Turn, ...] = ()
        for number in range(1, self.rounds + 1):
            turns = await self._round(call, context, roles, turns, number)
            missing += [
                {"round": number, "role": turn.role, "reason": turn.failure} for turn in turns if not turn.reply
            ]
            details |= {"rounds": number, "missing": missing}
            if number == 1:
                details["first_round_unanimous"] = await self._consensus(turns) is not None
            if self.stop_at_consensus and (agreed := await self._consensus(turns)):
                return StepOutcome(
                    answer=agreed.answer, thinking=agreed.thinking, details={**details, "consensus": True}
                )
        verdict = await self._speak(context, self._judge(call, turns), "judge")
        return StepOutcome(answer=verdict.answer, thinking=verdict.thinking, details=details)

    async def _round(
        self, call: StepCall, context: AgentContext, roles: tuple[str, ...], before: tuple[_Turn, ...], number: int
    ) -> tuple[_Turn, ...]:
        turns = await all_of(
            self._turn(context, role, self._speech(call, role, before), f"round {number}: {role}") for role in roles
        )
        if not any(turn.reply for turn in turns):
            reasons = ", ".join(f"{turn.role}: {turn.failure}" for turn in turns)
            raise StepError("debate_failed", f"no debater gave a usable reply in round {number} ({reasons})")
        return turns

    async def _turn(self, context: AgentContext, role: str, messages: tuple[Message, ...], purpose: str) -> _Turn:
        try:
            return _Turn(role=role, reply=await self._speak(context, messages, purpose))
        except StepError as error:
            context.warn("debater_missing", f"{purpose}: {error}; the debate goes on without it")
            return _Turn(role=role, reply=None, failure=error.code)

    async def _speak(self, context: AgentContext, messages: tuple[Message, ...], purpose: str) -> Reply:
        return await ask(
            context,
            messages,
            self.params(),
            asked=ANSWER_FIELDS,
            purpose=purpose,
            format_retries=self.format_retries,
        )

    def _speech(self, call: StepCall, role: str, before: tuple[_Turn, ...]) -> tuple[Message, ...]:
        thoughts = {turn.role: self._thought(turn.reply) for turn in before}
        others = [{"role": other, "text": text} for other, text in thoughts.items() if other != role]
        return prompt("debate", call, role=role, own=thoughts.get(role), others=others)

    def _judge(self, call: StepCall, turns: tuple[_Turn, ...]) -> tuple[Message, ...]:
        opinions = [
            {"role": turn.role, "text": shortened(turn.reply.thinking, self.quoted_chars), "answer": turn.reply.answer}
            if turn.reply
            else {"role": turn.role, "text": None}
            for turn in turns
        ]
        return prompt("debate_judge", call, opinions=opinions)

    def _thought(self, reply: Reply | None) -> str | None:
        """The thinking, as in the paper; the answer of a debater that wrote none."""
        return None if reply is None else shortened(reply.thinking or reply.answer, self.quoted_chars)

    async def _consensus(self, turns: tuple[_Turn, ...]) -> Reply | None:
        replies = [turn.reply for turn in turns if turn.reply]
        if len(replies) < len(turns):
            return None
        return replies[0] if len(set(await self.grouping([reply.answer for reply in replies]))) == 1 else None


def distinct_roles(roles: tuple[str, ...]) -> tuple[str, ...]:
    """The roles, numbered where one is named twice, so that debaters can be told apart.

    >>> distinct_roles(("Expert", "Critic", "Expert"))
    ('Expert (1)', 'Critic', 'Expert (2)')
    """
    return tuple(
        f"{role} ({roles[:position].count(role) + 1})" if roles.count(role) > 1 else role
        for position, role in enumerate(roles)
    )
