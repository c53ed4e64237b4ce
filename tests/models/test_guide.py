"""The examples of the guide are what the loaders accept."""

import re
from pathlib import Path

import pytest

from mas_orchestra.config import load_settings
from mas_orchestra.models.base import FinishReason, Params
from mas_orchestra.models.scripted import ScriptedModel
from mas_orchestra.types import Message, Role

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "models.md"
SETTINGS, SCRIPT = re.findall(r"```toml\n([^`]+)```", GUIDE.read_text(encoding="utf-8"))


def test_the_settings_of_the_guide_are_read(tmp_path):
    path = tmp_path / "mas.toml"
    path.write_text(SETTINGS)
    settings = load_settings(path, environ={})
    (options,) = settings.endpoints.values()
    assert options.model_fields_set == set(type(options).model_fields)
    assert settings.prices["llama-3.1-8b"].cache_read == 0.01


@pytest.mark.parametrize(
    ("prompt", "reply", "reason"),
    [
        ("How many primes are there below 100?", "25", FinishReason.STOP),
        ("now step 3", "", FinishReason.TOOL_CALLS),
        ("anything", "I do not know.", FinishReason.STOP),
    ],
)
async def test_the_script_of_the_guide_replies(tmp_path, prompt, reply, reason):
    path = tmp_path / "script.toml"
    path.write_text(SCRIPT)
    completion = await ScriptedModel.open(path).complete((Message(role=Role.USER, content=prompt),), Params())
    assert (completion.content, completion.choices[0].finish_reason) == (reply, reason)
