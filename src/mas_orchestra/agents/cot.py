"""One call that reasons step by step."""

from mas_orchestra.agents.ask import ANSWER_FIELDS, ask
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.options import ConfiguredAgent
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.plan.catalog import AgentCard

__all__ = ["CoTAgent"]


class CoTAgent(ConfiguredAgent):
    """Chain of thought: one sample (MAS-Orchestra, appendix G.3)."""

    @property
    def card(self) -> AgentCard:
        """The cheapest one."""
        return AgentCard(
            name="CoTAgent",
            summary="Reasons step by step and answers, in a single call.",
            good_at="Most sub-tasks; the right first choice, and the one to combine or format the results of others.",
            cost="1 call",
            aliases=("cot", "chain-of-thought", "chain-of-thought agent"),
        )

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The model's answer with its reasoning.

        Raises:
            StepError: No reply that could be used, see `mas_orchestra.agents.ask`.
        """
        reply = await ask(
            context,
            prompt("cot", call),
            self.params(),
            asked=ANSWER_FIELDS,
            purpose="solve",
            format_retries=self.format_retries,
        )
        return StepOutcome(answer=reply.answer, thinking=reply.thinking)
