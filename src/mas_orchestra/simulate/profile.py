"""Profiles: how able, how forgetful and how gullible a simulated model is, as fitted numbers in ``profiles.toml``."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from mas_orchestra.errors import UnknownNameError

__all__ = ["MARK", "SCHEME", "Profile", "is_simulated", "profile", "profiles"]

SCHEME = "sim"
MARK = "(SIMULATED)"
"""Stands in the name under which every simulated reply is reported."""

Share = Field(ge=0.0, le=1.0)


class Profile(BaseModel):
    """What a simulated model does wrong, and how often. docs/simulator.md has the formulas.

    Hazards are rates: an event of hazard ``x`` happens with probability ``1 - exp(-x)``, and hazards of one reply add.

    Attributes:
        summary: One line for people.
        lookup: Hazard of one quantity that is looked up or worked out, at `reference_tokens` of prompt.
        operation: Factor of the further hazard ``k ** combining`` of a statement with k operations (+, -, times).
        chaining: A quantity at level l of its chain in this reply has its hazard times ``l ** chaining``.
        misreading: Probability that the model misunderstands a text, whatever it is asked about it.
        unevenness: Variance of a text's difficulty (gamma distributed, mean 1), which multiplies all its hazards.
        context: The hazard grows with the prompt as ``(tokens / reference_tokens) ** context``.
        linked, independent: Factor of the hazard in texts that ask several questions: about one web of quantities, or
            about disjoint ones. 1 is a text with one question.
        crowding: Each further answer that a reply must give adds this share to its hazards.
        belief: Probability of believing an unverified value about something that the reply works out, when one answer
            is due; with k answers due it is ``1 - (1 - belief) ** k``.
        operation_budget: Operations that fit into one reply; half of the replies have room for more.
        budget_spread: Standard deviation of the logarithm of that room.
        unwritten: Factor of the hazard where the model is told to be brief and writes no steps.
        format_error: Probability that a reply is not in the form asked for.
        systematic: Share of the errors that this model makes in every sample alike.
        catch: Probability that as a critic it sees an error that is there.
        false_alarm: Probability that as a critic it objects to what is right.
        conformity: Probability that in a debate it joins a strict majority against itself.
        copy_error: Probability that a value handed over is copied wrongly.
        context_tokens: Window of prompt and reply.
        first_token_s, token_s: Latency: a fixed part, and a part for each token that is written.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: str
    lookup: float = Field(ge=0.0)
    operation: float = Field(ge=0.0)
    combining: float = Field(ge=0.0)
    chaining: float = Field(ge=0.0)
    misreading: float = Share
    unevenness: float = Field(ge=0.0)
    context: float = Field(ge=0.0)
    reference_tokens: int = Field(gt=0)
    linked: float = Field(ge=0.0)
    independent: float = Field(ge=0.0)
    crowding: float = Field(ge=0.0)
    belief: float = Share
    operation_budget: float = Field(gt=0.0)
    budget_spread: float = Field(ge=0.0)
    unwritten: float = Field(ge=1.0)
    format_error: float = Share
    systematic: float = Share
    catch: float = Share
    false_alarm: float = Share
    conformity: float = Share
    copy_error: float = Share
    context_tokens: int = Field(gt=0)
    first_token_s: float = Field(ge=0.0)
    token_s: float = Field(ge=0.0)


@cache
def profiles() -> Mapping[str, Profile]:
    """Every shipped profile by name."""
    tables = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))
    return {name: Profile.model_validate(table) for name, table in tables.items()}


def profile(name: str) -> Profile:
    """The profile of this name.

    Raises:
        UnknownNameError: There is none; lists those that there are.
    """
    known = profiles()
    if name not in known:
        raise UnknownNameError("simulated profile", name, known)
    return known[name]


def is_simulated(uri: str) -> bool:
    """Whether a model's URI, or the name that an endpoint reports, is that of a simulated one.

    A simulated model behind ``mas sim serve`` is named ``sim:PROFILE`` there, so that its URI tells it too.

    >>> is_simulated("sim:weak"), is_simulated("openai:sim:weak@http://127.0.0.1:8123/v1"), is_simulated("openai:gpt-5")
    (True, True, False)
    """
    return uri.startswith((f"{SCHEME}:", f"openai:{SCHEME}:")) or MARK in uri
