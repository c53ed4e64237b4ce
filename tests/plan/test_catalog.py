"""Cards: what a catalog refuses, model menus, checked arguments."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from mas_orchestra.errors import ConfigError, InvalidPlanError, UnknownNameError
from mas_orchestra.plan import AgentCard, Catalog, Plan, Step, arguments_of, check, read, render, tools
from support.cards import CARDS, DebateArguments


class Pace(StrEnum):
    SLOW = "slow"
    FAST = "fast"


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    depth: int
    note: str = ""


class Rich(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    style: str
    count: Annotated[int, Field(ge=1)]
    share: float = 0.5
    careful: bool = False
    pace: Pace = Pace.SLOW
    tone: Literal["dry", "warm"] | None = None
    inner: Inner | None = None
    numbers: tuple[int, ...] = ()


def card(name="RichAgent", arguments=Rich, **more):
    return AgentCard(name=name, summary="s", good_at="g", cost="c", arguments=arguments, **more)


RICH = Catalog((card(),))
FULL = {
    "style": ' "plain" <b> ',
    "count": 3,
    "share": 1,
    "careful": True,
    "pace": "fast",
    "tone": "dry",
    "inner": {"depth": 2, "note": "5"},
    "numbers": [1, 2],
}


class TestArguments:
    @pytest.mark.parametrize("wire", ["xml", "tools", "json"])
    @pytest.mark.parametrize("left_out", [(), ("tone", "inner"), ("share", "careful", "pace", "numbers")])
    def test_values_of_any_type_come_back(self, wire, left_out):
        given = {name: value for name, value in FULL.items() if name not in left_out}
        plan = Plan(steps=(Step(id="a", agent="RichAgent", arguments=given),))

        report = read(render(plan, wire, RICH), catalog=RICH)

        assert report.faults == ()
        assert report.plan == plan

    @pytest.mark.parametrize(("style", "read_as"), [("5", "5"), ("null", "null"), ('"q"', '"q"'), ("[1]", "[1]")])
    def test_text_for_a_string_is_never_json(self, style, read_as):
        text = (
            "<agent><agent_id>a</agent_id><agent_name>RichAgent</agent_name><required_arguments><agent_input></agent_input>"
            f"<style>{style}</style><count>2</count><tone>warm</tone></required_arguments></agent>"
        )
        step = read(text, catalog=RICH).plan.steps[0]

        assert step.arguments == {"style": read_as, "count": 2, "tone": "warm"}
        assert arguments_of(step, RICH) == Rich(style=read_as, count=2, tone="warm")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("count", "3"),
            ("count", 0),
            ("count", True),
            ("style", 5),
            ("pace", "medium"),
            ("inner", {"deep": 1}),
            ("x", 1),
        ],
    )
    def test_what_the_schema_refuses(self, name, value):
        report = check(Plan(steps=(Step(id="a", agent="RichAgent", arguments=FULL | {name: value}),)), catalog=RICH)

        assert [fault.code for fault in report.faults] == ["bad_argument"]
        assert name in report.faults[0].message
        assert "style, count" in report.faults[0].message

    def test_for_the_executor(self):
        step = Step(id="a", agent="DebateAgent", arguments={"roles": ["A", "B"]})

        assert arguments_of(step, CARDS) == DebateArguments(roles=["A", "B"])
        with pytest.raises(InvalidPlanError, match=r"step 'a'.*roles"):
            arguments_of(Step(id="a", agent="DebateAgent"), CARDS)
        with pytest.raises(UnknownNameError, match="Known: CoTAgent"):
            arguments_of(Step(id="a", agent="CotAgent"), CARDS)

    def test_null_is_not_given(self):
        assert Step(id="a", agent="RichAgent", arguments={"tone": None, "count": 1}).arguments == {"count": 1}


class TestCatalog:
    def test_a_duplicate_name(self):
        with pytest.raises(ConfigError, match="two sub-agents are named 'RichAgent'"):
            Catalog((card(), card()))

    @pytest.mark.parametrize("word", ["input", "agent_input", "from", "thinking"])
    def test_a_word_of_the_language_is_no_argument(self, word):
        class Arguments(BaseModel):
            other: str

        with pytest.raises(ConfigError, match=f"'{word}' is a word of the plan language"):
            Catalog((card(arguments=Arguments, argument_tags={word: "other"}),))

    def test_answer_is_no_sub_agent(self):
        with pytest.raises(ConfigError, match="'answer'"):
            Catalog((card(name="answer"),))

    def test_names(self):
        assert CARDS.names == ("CoTAgent", "SCAgent", "DebateAgent", "ReflexionAgent", "WebSearchAgent")
        assert len(CARDS) == 5
        assert "SCAgent" in CARDS
        assert CARDS.get("Nobody") is None
        with pytest.raises(UnknownNameError, match="Did you mean 'SCAgent'"):
            CARDS["SCAgnt"]

    def test_an_alias_of_two_is_an_alias_of_none(self):
        both = Catalog((card("OneAgent", aliases=("x",)), card("TwoAgent", aliases=("x", "One Agent"))))

        assert both.resolve("x") is None
        assert both.resolve("one") == "OneAgent"
        assert both.resolve("ONE-AGENT") == "OneAgent"

    def test_tools_of_names_that_no_provider_accepts(self):
        odd = Catalog((card("Löser 1", arguments=DebateArguments), card("Löser 2", arguments=DebateArguments)))
        plan = Plan(steps=(Step(id="a", agent="Löser 2", arguments={"roles": ["x", "y"]}),))

        assert len({tool.name for tool in tools(odd, "high")}) == 2
        assert all(tool.name.isascii() for tool in tools(odd, "high"))
        assert read(render(plan, "tools", odd), catalog=odd).plan == plan


class TestModelMenu:
    MENU = CARDS.with_models({"small": "fast, $0.1 per million tokens", "large": "strong, $10"})

    def test_every_sub_agent_takes_a_model(self):
        for tool in tools(self.MENU, "high"):
            model = tool.parameters["properties"]["model"]
            assert model["anyOf"] == [{"type": "string", "enum": ["small", "large"]}, {"type": "null"}]
            assert "large: strong, $10" in model["description"]

    @pytest.mark.parametrize("wire", ["xml", "tools", "json"])
    @pytest.mark.parametrize("arguments", [{}, {"model": "small"}])
    def test_it_is_optional(self, wire, arguments):
        plan = Plan(steps=(Step(id="a", agent="DebateAgent", arguments={"roles": ["x", "y"], **arguments}),))
        report = read(render(plan, wire, self.MENU), catalog=self.MENU)

        assert report.plan == plan
        assert report.max_calls == 11
        assert arguments_of(report.plan.steps[0], self.MENU).model == arguments.get("model")

    def test_another_model_is_refused(self):
        plan = Plan(steps=(Step(id="a", agent="CoTAgent", arguments={"model": "huge"}),))

        assert [fault.code for fault in check(plan, catalog=self.MENU).faults] == ["bad_argument"]
        assert [fault.code for fault in check(plan, catalog=CARDS).faults] == ["bad_argument"]

    def test_an_empty_menu_changes_nothing_and_a_second_one_is_refused(self):
        assert CARDS.with_models({}) is CARDS
        with pytest.raises(ConfigError, match="model"):
            self.MENU.with_models({"x": "y"})
