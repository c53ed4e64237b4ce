"""A catalog of five cards like the built-in sub-agents', so that the plan language is tested on its own."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from mas_orchestra.plan.catalog import AgentCard, Catalog

__all__ = ["CARDS", "DebateArguments"]


class DebateArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    roles: Annotated[list[str], Field(min_length=2, max_length=8, description="Who debates.")]


def _debate_calls(arguments):
    return 5 * len(arguments.roles) + 1


CARDS = Catalog(
    (
        AgentCard(
            name="CoTAgent",
            summary="Thinks step by step.",
            good_at="Anything that one careful chain of thought can do.",
            cost="1 call",
            aliases=("cot", "chain-of-thought"),
        ),
        AgentCard(
            name="SCAgent",
            summary="Samples five chains of thought and votes.",
            good_at="Short answers that a single chain may get wrong.",
            cost="5 calls",
            aliases=("self-consistency", "cot-sc"),
            max_calls=lambda _: 5,
        ),
        AgentCard(
            name="DebateAgent",
            summary="Lets roles of your choice debate, then judges.",
            good_at="Questions with several defensible views.",
            cost="5 calls a role and 1",
            aliases=("debate", "llm-debate"),
            arguments=DebateArguments,
            argument_tags={"debate_roles": "roles"},
            max_calls=_debate_calls,
        ),
        AgentCard(
            name="ReflexionAgent",
            summary="Solves, criticises, solves again.",
            good_at="Problems whose mistakes are easy to see afterwards.",
            cost="2 to 11 calls",
            aliases=("reflexion", "reflection"),
            max_calls=lambda _: 11,
        ),
        AgentCard(
            name="WebSearchAgent",
            summary="Searches and reads.",
            good_at="Facts.",
            cost="up to 6 calls",
            aliases=("web_search", "search", "websearch"),
            max_calls=lambda _: 6,
        ),
    )
)
