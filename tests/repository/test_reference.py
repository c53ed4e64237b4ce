"""Every word that a user may meet is explained in a guide: settings, states, events, limits, sub-agents, options."""

from collections.abc import Iterable
from dataclasses import fields

import pytest
from pydantic import BaseModel

from mas_orchestra.agents.registry import Registry
from mas_orchestra.config import EndpointSettings, LocalSettings, Price, Settings
from mas_orchestra.run import Limits, OnStepError, events
from mas_orchestra.types import OutcomeStatus
from repository.documents import page, pages
from repository.source_tree import listed


def unexplained(names: Iterable[str], text: str) -> list[str]:
    """Names that a text does not give as code: in backticks, or in a fenced block."""
    code = " ".join(text.replace("```", "`").split("`")[1::2])
    words = set("".join(letter if letter.isalnum() or letter == "_" else " " for letter in code).split())
    return [name for name in names if name not in words]


def guides() -> str:
    return "\n".join(text for name, text in pages().items() if name.startswith(("docs/guide/", "docs/reference/")))


@pytest.mark.parametrize(
    "section", [Settings, EndpointSettings, LocalSettings, Price], ids=lambda section: section.__name__
)
def test_every_setting_is_explained(section: type[BaseModel]) -> None:
    missing = unexplained(section.model_fields, guides())

    assert not missing, listed(missing, f"No guide explains, of {section.__name__}:")


def test_every_limit_and_every_end_of_a_run_is_explained() -> None:
    words = [field.name for field in fields(Limits)] + [*OutcomeStatus, *OnStepError]
    missing = unexplained(words, guides())

    assert not missing, listed(missing, "No guide explains:")


def test_every_event_is_explained() -> None:
    kinds = [name for name in events.__all__ if isinstance(getattr(events, name), type)]
    missing = unexplained(kinds, page("docs/guide/runs.md"))

    assert len(kinds) >= 8
    assert not missing, listed(missing, "docs/guide/runs.md does not explain:")


def test_every_sub_agent_and_its_options_are_explained() -> None:
    text = page("docs/guide/sub-agents.md")
    for agent in Registry.installed():
        if type(agent).__module__.startswith("mas_orchestra."):
            options = getattr(type(agent), "model_fields", {})
            missing = unexplained([agent.card.name, *options], text)
            assert not missing, listed(missing, f"docs/guide/sub-agents.md does not explain, of {agent.card.name}:")


def test_a_word_outside_code_explains_nothing() -> None:
    text = "The timeout is `a_b` or\n```toml\nc_d = 1\n```\n"

    assert unexplained(["a_b", "c_d", "timeout"], text) == ["timeout"]
