"""Which model answers: option, environment, settings, embedded, in this order, and never in silence."""

import pytest

from mas_orchestra.cli.solve_models import EMBEDDED_URI, choose_models
from mas_orchestra.config import Settings
from mas_orchestra.errors import ConfigError

ENVIRON = {"MAS_MODEL": "scripted:environ", "MAS_ORCHESTRATOR": "scripted:environ-writer"}
SETTINGS = Settings(model="scripted:settings", orchestrator="scripted:settings-writer")


@pytest.mark.parametrize(
    ("options", "environ", "settings", "expected"),
    [
        (("scripted:a", "scripted:b"), ENVIRON, SETTINGS, ("scripted:a", "scripted:b")),
        ((None, None), ENVIRON, SETTINGS, ("scripted:environ", "scripted:environ-writer")),
        ((None, None), {}, SETTINGS, ("scripted:settings", "scripted:settings-writer")),
        ((None, None), {"MAS_MODEL": ""}, SETTINGS, ("scripted:settings", "scripted:settings-writer")),
        (("scripted:a", None), {}, Settings(), ("scripted:a", None)),
        (("scripted:a", "scripted:a"), {}, Settings(), ("scripted:a", None)),
    ],
)
def test_the_nearest_word_counts(options, environ, settings, expected):
    chosen = choose_models(*options, settings, environ=environ)

    assert (chosen.model, chosen.orchestrator) == expected
    assert not chosen.is_fallback


def test_without_any_word_the_embedded_model_steps_in():
    chosen = choose_models(None, None, Settings(), environ={}, has_embedded=lambda: True)

    assert (chosen.model, chosen.is_fallback) == (EMBEDDED_URI, True)


def test_without_any_model_the_ways_to_get_one_are_said():
    with pytest.raises(ConfigError, match=r"(?s)--model URI.*MAS_MODEL.*mas\.toml.*mas models get"):
        choose_models(None, None, Settings(), environ={}, has_embedded=lambda: False)
