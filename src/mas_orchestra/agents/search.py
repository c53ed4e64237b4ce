"""Searching, opening and noting in rounds, then an answer with its sources."""

from dataclasses import dataclass, replace

from pydantic import Field

from mas_orchestra.agents.ask import ANSWER_FIELDS, ask
from mas_orchestra.agents.base import AgentContext, StepCall, StepOutcome
from mas_orchestra.agents.concurrency import all_of
from mas_orchestra.agents.options import ConfiguredAgent
from mas_orchestra.agents.prompting import prompt
from mas_orchestra.agents.reply import Reply, read_reply
from mas_orchestra.agents.search_tools import TOOLS, Desk
from mas_orchestra.errors import StepError
from mas_orchestra.models.base import Choice, FinishReason
from mas_orchestra.plan.catalog import AgentCard
from mas_orchestra.types import JsonValue, Message, Role

__all__ = ["WebSearchAgent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loop:
    """How the rounds ended; without `reply`, the answer is still to be written."""

    iterations: int
    reply: Reply | None = None
    limit_reached: bool = False


class WebSearchAgent(ConfiguredAgent):
    """A loop over the tools `search`, `open` and `think` (MAS-Orchestra, appendix G.3).

    A round is one call of the model and the tools that it asks for, all at the same time. The model ends the loop by
    replying without a tool. When the rounds are used up, one more call without tools answers from what was found, the
    step warns, and the details say ``limit_reached``.

    Departs from the paper: a page is cut rather than summarised by further calls, so that a step's cost is known; and
    pages are opened by a tool of its own instead of being returned whole with every search.

    Attributes:
        iterations: Most rounds.
        tool_calls: Most tools of one round; the model is told that the others were not run.
        results: Results of one search.
        page_chars: Characters of a page that are shown, from its beginning (the paper's offline cut).
    """

    iterations: int = Field(default=5, ge=1, le=50)
    tool_calls: int = Field(default=5, ge=1, le=50)
    results: int = Field(default=5, ge=1, le=50)
    page_chars: int = Field(default=10_000, ge=100)

    @property
    def card(self) -> AgentCard:
        """One call a round, and the one that answers when the rounds are used up."""
        return AgentCard(
            name="WebSearchAgent",
            summary=f"Searches and reads documents in up to {self.iterations} rounds and answers with its sources.",
            good_at="Facts that must be looked up: one self-contained question each, several side by side.",
            cost=f"2 to {self.iterations + 1} calls, one after the other",
            aliases=("web-search", "search", "search-agent", "deep-research", "deep-research-agent"),
            max_calls=lambda _: self.iterations + 1,
        )

    async def run(self, call: StepCall, context: AgentContext) -> StepOutcome:
        """The answer; `details` has `citations`, `iterations`, `limit_reached` and `failed_searches`.

        Raises:
            StepError: `no_retriever`, or no usable reply.
        """
        if context.retriever is None:
            raise StepError("no_retriever", "WebSearchAgent has nothing to search; give the run a corpus or a provider")
        desk = Desk(context.retriever, results=self.results, page_chars=self.page_chars)
        loop = await self._loop(call, context, desk)
        reply = loop.reply or await self._answer_from(desk, call, context)
        details: dict[str, JsonValue] = {
            "citations": desk.citations,
            "iterations": loop.iterations,
            "limit_reached": loop.limit_reached,
            "failed_searches": desk.failures,
        }
        return StepOutcome(answer=reply.answer, thinking=reply.thinking, details=details)

    async def _loop(self, call: StepCall, context: AgentContext, desk: Desk) -> _Loop:
        messages: tuple[Message, ...] = prompt("search", call, iterations=self.iterations, tool_calls=self.tool_calls)
        for number in range(1, self.iterations + 1):
            completion = await context.complete(
                messages, replace(self.params(), tools=TOOLS), purpose=f"search round {number}"
            )
            choice = completion.choices[0]
            if not choice.tool_calls:
                return _Loop(iterations=number - 1, reply=_reply_in(choice, context))
            results = await self._use_tools(choice, context, desk)
            messages = (*messages, _asked_for(choice), *results)
        context.warn("limit_reached", f"all {self.iterations} search rounds are used up; answering from what was found")
        return _Loop(iterations=self.iterations, limit_reached=True)

    async def _use_tools(self, choice: Choice, context: AgentContext, desk: Desk) -> tuple[Message, ...]:
        """One tool message a call, in order; calls beyond the limit are answered without being run."""
        asked = choice.tool_calls[: self.tool_calls]
        results = await all_of(desk.use(tool_call) for tool_call in asked)
        desk.keep(results)
        for result in results:
            if result.failed is not None:
                context.warn(result.failed.code, f"a search failed: {result.failed}")
        texts = [result.text for result in results]
        texts += [f"not run: at most {self.tool_calls} tools a round"] * (len(choice.tool_calls) - len(asked))
        return tuple(
            Message(role=Role.TOOL, content=text, tool_call_id=tool_call.id)
            for tool_call, text in zip(choice.tool_calls, texts, strict=True)
        )

    async def _answer_from(self, desk: Desk, call: StepCall, context: AgentContext) -> Reply:
        """A conversation of its own, since some endpoints refuse tool messages in a call that offers no tools."""
        return await ask(
            context,
            prompt("search_final", call, findings=desk.findings, failures=desk.failures),
            self.params(),
            asked=ANSWER_FIELDS,
            purpose="answer",
            format_retries=self.format_retries,
        )


def _asked_for(choice: Choice) -> Message:
    return Message(role=Role.ASSISTANT, content=choice.content, tool_calls=choice.tool_calls)


def _reply_in(choice: Choice, context: AgentContext) -> Reply | None:
    """The answer that ended the loop; ``None`` when it has to be asked for once more.

    It has to when it is empty, withheld or cut off. Free text is an answer here, as in the paper.
    """
    cut_off = choice.finish_reason is FinishReason.LENGTH
    is_withheld = choice.finish_reason is FinishReason.CONTENT_FILTER
    reply = None if is_withheld else read_reply(choice.content, cut_off=cut_off, prose=True)
    if reply is None:
        reason = "truncated_reply" if cut_off else "filtered_reply" if is_withheld else "empty_reply"
        context.warn(reason, "the reply that ended the search has no usable answer; asked for it once more")
    return reply
