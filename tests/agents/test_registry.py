"""The sub-agents of a run: the built-in ones, those of other packages, and what goes wrong with them."""

import sys
import textwrap

import pytest

from mas_orchestra.agents import AgentContext, CoTAgent, Registry, SCAgent, StepCall, sub_agent
from mas_orchestra.errors import ConfigError, UnknownNameError
from mas_orchestra.plan.catalog import agent_entry_points

BUILT_IN = ("CoTAgent", "SCAgent", "DebateAgent", "ReflexionAgent", "WebSearchAgent")


@sub_agent
async def Extra(context: AgentContext, call: StepCall, *, digits: int = 3) -> str:  # noqa: N802  (named like a class)
    """Is one more."""
    return "extra"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Puts a package with one entry point on the path, as an installer would."""

    def install(code: str, *, entry: str = "Outside = outside_package:Outside") -> None:
        (tmp_path / "outside_package.py").write_text(textwrap.dedent(code))
        metadata = tmp_path / "outside_package-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: outside-package\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[mas_orchestra.agents]\n{entry}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "outside_package", raising=False)

    yield install
    sys.modules.pop("outside_package", None)


FUNCTION = '''
from mas_orchestra.agents import sub_agent

@sub_agent
async def Outside(context, call, *, digits: int = 3) -> str:
    """Comes from outside."""
    return "out"
'''
CLASS = """
from mas_orchestra.plan.catalog import AgentCard

class Outside:
    def __init__(self, speed=1):
        self.speed = speed
        self.card = AgentCard(name="Outside", summary="s", good_at="g", cost=f"{speed} calls")

    async def run(self, call, context):
        raise NotImplementedError
"""


def test_the_built_in_sub_agents_are_installed_in_the_order_of_the_paper():
    assert Registry.installed().catalog.names[:5] == BUILT_IN


def test_every_card_is_complete_and_says_its_price():
    for card in Registry.only(*BUILT_IN).catalog:
        assert card.summary.endswith(".")
        assert card.good_at.endswith(".")
        assert "call" in card.cost
        assert len(f"{card.summary} {card.good_at}") < 250  # five of them fit into a small model's prompt


def test_options_reach_the_sub_agent_that_they_name():
    registry = Registry.installed({"SCAgent": {"samples": 7}})

    assert registry["SCAgent"].samples == 7
    assert registry["DebateAgent"].rounds == 5


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"SCAgent": {"sample": 7}}, ConfigError, "unknown option 'sample'. Did you mean 'samples'"),
        ({"SCAgnt": {"samples": 7}}, UnknownNameError, "'SCAgnt'. Did you mean 'SCAgent'"),
        ({"SCAgent": {"samples": 0}}, ConfigError, "samples = 0"),
    ],
)
def test_wrong_options_name_the_nearest(options, kind, message):
    with pytest.raises(kind, match=message):
        Registry.installed(options)


def test_only_the_named_ones_in_this_order():
    assert Registry.only("SCAgent", "CoTAgent").catalog.names == ("SCAgent", "CoTAgent")


def test_an_unknown_name_lists_the_known_ones():
    for ask in (lambda: Registry.only("CoTAgnt"), lambda: Registry.only("CoTAgent")["CoTAgnt"]):
        with pytest.raises(UnknownNameError, match="Did you mean 'CoTAgent'"):
            ask()


def test_options_for_a_sub_agent_that_is_not_asked_for_are_refused():
    with pytest.raises(UnknownNameError):
        Registry.only("CoTAgent", options={"SCAgent": {"samples": 7}})


def test_two_of_one_name_are_refused():
    with pytest.raises(ConfigError, match="two sub-agents are named 'CoTAgent'"):
        Registry([CoTAgent(), CoTAgent()])


def test_programs_add_and_replace_sub_agents():
    registry = Registry.only("CoTAgent", "SCAgent").with_agents(Extra, SCAgent(samples=3))

    assert registry.catalog.names == ("CoTAgent", "SCAgent", "Extra")
    assert registry["SCAgent"].samples == 3
    assert len(registry) == 3
    assert "Extra" in registry


@pytest.mark.parametrize("code", [FUNCTION, CLASS])
def test_a_package_adds_a_function_or_a_class(package, code):
    package(code)

    registry = Registry.installed()

    assert registry.catalog.names[:5] == BUILT_IN
    assert "Outside" in registry


def test_options_reach_a_class_of_a_package(package):
    package(CLASS)

    assert Registry.installed({"Outside": {"speed": 9}})["Outside"].speed == 9


@pytest.mark.parametrize(
    ("code", "entry", "options", "message"),
    [
        ("import no_such_module_at_all", None, {}, "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("1 / 0", None, {}, "ZeroDivisionError: division by zero"),
        ("syntax error here", None, {}, "SyntaxError"),
        ("Other = 1", None, {}, "AttributeError"),
        ("Outside = 7", None, {}, "is of type int; a sub-agent has a card and a method run"),
        ("def Outside():\n    return 7", None, {}, "is of type int; a sub-agent has a card"),
        (CLASS, None, {"Outside": {"sped": 9}}, "unexpected keyword argument 'sped'"),
        (FUNCTION, None, {"Outside": {"digits": 9}}, "takes no options; got digits"),
        (
            FUNCTION,
            "Another = outside_package:Outside",
            {},
            "holds a sub-agent named 'Outside'; give both the same name",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named_with_the_reason(package, code, entry, options, message):
    package(code, **({"entry": entry} if entry else {}))

    with pytest.raises(ConfigError, match="of package 'outside-package'") as caught:
        Registry.installed(options)

    assert message in str(caught.value)


def test_a_broken_package_does_not_disturb_those_who_do_not_ask_for_it(package):
    package("1 / 0")

    assert "Outside" in {point.name for point in agent_entry_points()}
    assert Registry.only(*BUILT_IN).catalog.names == BUILT_IN
