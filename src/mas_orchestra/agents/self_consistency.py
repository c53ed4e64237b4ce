"""Several independent samples and a vote."""

from collections import Counter
from dataclasses import replace
from typing import Annotated

from pydantic import Field, SkipValidation

from mas_orchestra.agents.ask import ANSWER_FIELDS, Sampled, ask_any, sample
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.equivalence import Grouping, group_by_key
from mas_orchestra.agents.options import ConfiguredAgent
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.agents.reply import Reply
from mas_orchestra.agents.vote import Vote, undecided, vote
from mas_orchestra.errors import StepError
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.types import JsonValue, Message

__all__ = ["SCAgent"]


class SCAgent(ConfiguredAgent):
    """Self-consistency: independent samples of one prompt, then a vote (MAS-Orchestra, appendix G.3: 5 samples).

    Samples without a usable answer are left out of the vote and counted in the details. Of answers with equally many
    votes, the one that was given first wins, and the details say ``tie``.

    Departs from the paper: the vote is over equivalent answers (``0.5`` and ``1/2`` are one), not over equal strings.

    Attributes:
        samples: Independent samples, asked for in one request.
        early_stop: Ask for the fewest samples that could decide the vote, then for the fewest further ones, and stop
            as soon as it is decided. Saves up to half of the samples and costs waiting time where they disagree. The
            same answer wins as without it, except that a vote is not known to be tied before its end.
        grouping: Which answers are the same; a scorer may give a stronger rule than the built-in one.
    """

    samples: int = Field(default=5, ge=1, le=128)
    early_stop: bool = False
    grouping: Annotated[Grouping, SkipValidation] = Field(default=group_by_key, repr=False)

    @property
    def card(self) -> AgentCard:
        """As many calls as samples; an answer that cannot be read costs none on top while another can."""
        return AgentCard(
            name="SCAgent",
            summary=f"Solves the sub-task {self.samples} times independently; the most frequent answer wins.",
            good_at="Short answers (a number, a choice, a name) that a single try gets right often, but not always.",
            cost=f"{self.samples} calls at the same time",
            aliases=("sc", "self-consistency", "cot-sc", "self-consistency agent"),
            max_calls=lambda _: self.samples,
        )

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The winner of the vote, with the reasoning of the first sample that gave it.

        Raises:
            StepError: No sample had a usable answer, even when asked again.
        """
        messages = prompt("cot", call)
        gathered: Sampled[Reply] = Sampled(replies=(), unusable=())
        while wanted := await self._still_wanted(gathered):
            more = await self._ask(context, messages, have=_size(gathered), wanted=wanted)
            gathered = Sampled(
                replies=(*gathered.replies, *more.replies), unusable=(*gathered.unusable, *more.unusable)
            )
        result = vote(await self._labels(gathered))
        _warn_of(gathered.unusable, context, samples=_size(gathered))
        winner = gathered.replies[result.winner]
        return StepOutcome(answer=winner.answer, thinking=winner.thinking, details=_details(gathered, result))

    async def _still_wanted(self, gathered: Sampled[Reply]) -> int:
        remaining = self.samples - _size(gathered)
        if remaining <= 0 or not self.early_stop:
            return max(0, remaining)
        return undecided(await self._labels(gathered), remaining)

    async def _ask(
        self, context: AgentContext, messages: tuple[Message, ...], *, have: int, wanted: int
    ) -> Sampled[Reply]:
        purpose = f"sample {have + 1}" if wanted == 1 else f"samples {have + 1} to {have + wanted}"
        params = replace(self.params(), n=wanted)
        if have == 0:
            return await ask_any(
                context,
                messages,
                params,
                asked=ANSWER_FIELDS,
                purpose=purpose,
                format_retries=self.format_retries,
            )
        # A seed of its own, or a response cache would return an earlier sample of the same prompt.
        params = replace(params, seed=context.rng.getrandbits(31), response_schema=ANSWER_FIELDS.fields.schema)
        return await sample(context, messages, params, asked=ANSWER_FIELDS, purpose=purpose)

    async def _labels(self, gathered: Sampled[Reply]) -> list[int]:
        answers = [reply.answer for reply in gathered.replies]
        labels = list(await self.grouping(answers))
        if len(labels) != len(answers):
            raise StepError("bad_grouping", f"grouping gave {len(labels)} labels for {len(answers)} answers")
        return labels


def _size(gathered: Sampled[Reply]) -> int:
    return len(gathered.replies) + len(gathered.unusable)


def _warn_of(unusable: tuple[StepError, ...], context: AgentContext, *, samples: int) -> None:
    for code, count in Counter(error.code for error in unusable).items():
        context.warn(code, f"{count} of {samples} samples left out of the vote: {code}")


def _details(gathered: Sampled[Reply], result: Vote) -> dict[str, JsonValue]:
    unusable: dict[str, JsonValue] = dict(Counter(error.code for error in gathered.unusable))
    return {
        "samples": _size(gathered),
        "votes": [{"answer": gathered.replies[tally.first].answer, "count": tally.count} for tally in result.tallies],
        "tie": result.is_tie,
        "left_out": unusable,
    }
